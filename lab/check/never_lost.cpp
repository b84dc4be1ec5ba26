#include "lab/check/never_lost.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lab/check/reads.h"

namespace remora {
namespace {

// The last cut that `get` was invoked after, if the acknowledgement of `write` came before it.
const Cut* cut_between(const History& history, const Operation& write, const Operation& get) {
  if (get.epoch == 0 || write.persisted == never) {
    return nullptr;
  }
  const Cut& cut = history.cuts()[get.epoch - 1];
  return write.persisted < cut.at ? &cut : nullptr;
}

// The writes that could have left what `get` returned.
std::vector<OperationIndex> writers_of(const History& history, const Operation& get,
                                       const std::vector<OperationIndex>& operations) {
  std::vector<OperationIndex> writers;
  for (const OperationIndex i : operations) {
    if (history[i].is_write() && could_have_left(history[i], get)) {
      writers.push_back(i);
    }
  }
  return writers;
}

// The first acknowledged write that `get` should have seen, or something newer, and did not.
std::optional<OperationIndex> lost_write(const History& history, const Operation& get,
                                         const std::vector<OperationIndex>& operations,
                                         const std::vector<OperationIndex>& writers) {
  for (const OperationIndex i : operations) {
    const Operation& write = history[i];
    if (write.is_write() && cut_between(history, write, get) != nullptr &&
        std::all_of(writers.begin(), writers.end(), [&](OperationIndex writer) {
          return history[writer].closed < write.invoked;
        })) {
      return i;
    }
  }
  return std::nullopt;
}

Violation explain(const History& history, OperationIndex write, OperationIndex get,
                  const std::vector<OperationIndex>& writers) {
  const Cut& cut = *cut_between(history, history[write], history[get]);
  std::string text = fmt::format("{}; the power was cut at {} ns; then {}",
                                 describe(history, write), cut.time_ns, describe(history, get));
  std::vector<OperationIndex> involved = {write, get};
  for (const OperationIndex writer : writers) {
    text += fmt::format("; older: {}", describe(history, writer));
    involved.push_back(writer);
  }
  if (writers.empty()) {
    text += "; the key was so only before its first write";
  }
  return {"never_lost", history[get].key, std::move(text), std::move(involved)};
}

}  // namespace

Verdict never_lost(const History& history) {
  Verdict verdict;
  for (const auto& [key, operations] : history.by_key()) {
    for (const OperationIndex get : operations) {
      if (!tells_version(history[get])) {
        continue;
      }
      const auto writers = writers_of(history, history[get], operations);
      if (writers.empty() && history[get].outcome == Outcome::value) {
        continue;
      }
      if (const auto write = lost_write(history, history[get], operations, writers)) {
        verdict.violations.push_back(explain(history, *write, get, writers));
      }
    }
  }
  return verdict;
}

}  // namespace remora
