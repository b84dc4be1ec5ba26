// What a store can be asked beside its own promise: `remora crash --hold-to`, and the findings that
// `remora matrix` shows of the rivals. And every rule of the checkers in words for people.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kv/promise.h"

namespace remora::cli {

struct Question {
  std::string_view name;   // as --hold-to has it
  Promise promise;         // that the store is held to
  std::string_view rule;   // of the checkers, whose finding answers the question
  std::string_view shown;  // what such a finding shows, and how it comes about
};

std::span<const Question> questions();

// "own" (none), or the promise of a question.
Result<std::optional<Promise>> parse_hold_to(const std::string& name);

// What it means that the rule is broken. The rule itself when it is unknown.
std::string_view meaning_of_rule(std::string_view rule);

}  // namespace remora::cli
