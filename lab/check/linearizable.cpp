#include "lab/check/linearizable.h"

#include <fmt/format.h>

#include <algorithm>

namespace remora {
namespace {

constexpr std::uint64_t explaining_budget_states = 50'000;
constexpr std::size_t most_held_values = 8;

// Searches again without looking ahead, so as to get stuck at the operation that a person would
// name, when that is cheap.
SearchResult stuck_for_people(const RegisterLog& log, const SearchResult& first) {
  const SearchResult second =
      search(log, {.budget_states = explaining_budget_states, .looks_ahead = false});
  return second.answer == SearchResult::Answer::impossible ? second : first;
}

std::string describe_held(const RegisterLog& log, RegisterValue value) {
  if (value == unread) {
    return "a value that no get returned";
  }
  return value == absent ? "nothing" : fmt::format("value {}", log.id_of(value));
}

std::vector<OperationIndex> involved_in(const RegisterLog& log, const SearchResult& stuck,
                                        OperationIndex operation) {
  const auto& events = log.events();
  std::vector<OperationIndex> involved = {operation};
  std::vector<RegisterValue> values = stuck.held;
  values.push_back(log.operations()[events[stuck.stuck_event].operation].value);
  for (const RegisterValue value : values) {
    if (value != unread && log.only_writer(value) != no_index) {
      involved.push_back(log.source_of(value));
    }
  }
  std::sort(involved.begin() + 1, involved.end());
  involved.erase(std::unique(involved.begin() + 1, involved.end()), involved.end());
  involved.erase(std::remove(involved.begin() + 1, involved.end(), operation), involved.end());
  return involved;
}

Violation explain(const History& history, const RegisterLog& log, const SearchResult& stuck,
                  std::string_view rule) {
  const RegisterEvent& event = log.events()[stuck.stuck_event];
  const OperationIndex operation = log.operations()[event.operation].source;
  std::string text = fmt::format(
      "no order of the operations explains this one: {}; by then the key may have held ",
      describe(history, operation));
  for (std::size_t i = 0; i < stuck.held.size() && i < most_held_values; ++i) {
    text += (i == 0 ? "" : ", or ") + describe_held(log, stuck.held[i]);
  }
  if (stuck.held.size() > most_held_values) {
    text += ", or others";
  }
  if (const std::uint32_t epoch = history.epoch_at(event.at); epoch > 0) {
    text += fmt::format("; the last cut was at {} ns", history.cuts()[epoch - 1].time_ns);
  }
  std::vector<OperationIndex> involved = involved_in(log, stuck, operation);
  for (std::size_t i = 1; i < involved.size(); ++i) {
    text += fmt::format("; {}", describe(history, involved[i]));
  }
  return {rule, history[operation].key, std::move(text), std::move(involved)};
}

}  // namespace

Verdict linearizable(const History& history, CutRule cuts, std::string_view rule,
                     std::uint64_t budget_states) {
  Verdict verdict;
  for (const auto& [key, operations] : history.by_key()) {
    const RegisterLog log(history, operations, cuts);
    if (log.too_wide()) {
      verdict.undecided.push_back(
          {rule, key,
           fmt::format("more than {} operations were open at once", most_open_operations)});
      continue;
    }
    const SearchResult result = search(log, {.budget_states = budget_states});
    if (result.answer == SearchResult::Answer::out_of_budget) {
      verdict.undecided.push_back(
          {rule, key, fmt::format("no answer within {} states", budget_states)});
    } else if (result.answer == SearchResult::Answer::impossible) {
      verdict.violations.push_back(explain(history, log, stuck_for_people(log, result), rule));
    }
  }
  return verdict;
}

}  // namespace remora
