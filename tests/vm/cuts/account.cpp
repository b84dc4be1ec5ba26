#include "tests/vm/cuts/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace remora::vm {
namespace {

constexpr std::string_view kinds = "lpdvagf";

// The number that the text begins with, which then is taken off it.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

bool take_space(std::string_view& text) {
  const bool there = text.starts_with(' ');
  text.remove_prefix(there ? 1 : 0);
  return there;
}

// The last of the steps from `from` on that left this version.
std::optional<std::size_t> step_with(const std::vector<std::uint64_t>& steps, std::size_t from,
                                     std::uint64_t version) {
  for (std::size_t at = steps.size(); at > from; --at) {
    if (steps[at - 1] == version) {
      return at - 1;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string line_of(const Event& event) {
  return fmt::format("{} {} {}\n", static_cast<char>(event.kind), event.key, event.version);
}

Result<Event> event_in(std::string_view line) {
  std::string_view rest = line;
  Event event;
  if (!rest.empty() && kinds.find(rest.front()) != std::string_view::npos) {
    event.kind = static_cast<Event::Kind>(rest.front());
    rest.remove_prefix(1);
    if (take_space(rest) && take_number(rest, event.key) && take_space(rest) &&
        take_number(rest, event.version) && rest.empty()) {
      return event;
    }
  }
  return Status(Code::damaged, fmt::format("'{}' is no line of a journal", line));
}

Status Account::read(std::istream& journal) {
  for (std::string line; std::getline(journal, line);) {
    if (journal.eof()) {
      break;
    }
    REMORA_TRY_RESULT(event, event_in(line));
    REMORA_TRY(add(*event));
  }
  return {};
}

Status Account::add(const Event& event) {
  if (event.kind == Event::Kind::life) {
    lives_ = event.version;
    return {};
  }
  if (event.key >= keys_.size()) {
    return Status(Code::damaged, fmt::format("the account has no key {}", event.key));
  }
  Key& key = keys_[event.key];
  const std::size_t last = key.steps.size() - 1;
  switch (event.kind) {
    case Event::Kind::put:
      key.versions = std::max(key.versions, event.version);
      key.steps.push_back(event.version);
      break;
    case Event::Kind::del:
      key.steps.push_back(0);
      break;
    case Event::Kind::visible:
      key.visible = last;
      break;
    case Event::Kind::persistent:
      key.visible = last;
      key.settled = last;
      ++persistent_;
      break;
    case Event::Kind::returned: {
      const std::optional<std::size_t> step = step_with(key.steps, key.visible, event.version);
      if (!step) {
        return Status(Code::damaged,
                      fmt::format("a get of key-{} returned version {}, and version {} had been "
                                  "acknowledged",
                                  event.key, event.version, key.steps[key.visible]));
      }
      // That there is no value is no version, and nobody promises that it survives.
      key.visible = *step;
      key.settled = event.version == 0 ? key.settled : *step;
      break;
    }
    case Event::Kind::found:
      if (!step_with(key.steps, key.settled, event.version)) {
        return Status(
            Code::damaged,
            fmt::format("key-{} has lost version {}, which was acknowledged as persistent "
                        "or had been returned by a get; it has version {}",
                        event.key, key.steps[key.settled], event.version));
      }
      key.steps = {event.version};
      key.settled = 0;
      key.visible = 0;
      break;
    case Event::Kind::life:
      break;
  }
  return {};
}

}  // namespace remora::vm
