#include "cli/questions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace remora::cli {
namespace {

constexpr std::array<Question, 3> all_questions = {
    {{"whole",
      {Acknowledged::taken, Returned::any_version, false},
      "never_torn",
      "a get returns torn bytes: something leads to a version before its value has wholly come"},
     {"monotonic",
      {Acknowledged::visible, Returned::monotonic, true},
      "monotonic_reads",
      "reads step back: a get returns a value that is not persistent, and the next one, after a "
      "power cut, an older value"},
     {"persistent",
      {Acknowledged::persistent, Returned::any_version, false},
      "never_lost",
      "an acknowledged put is lost: its WRITE was acknowledged, nothing flushed it, and the power "
      "cut took it"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> meanings = {
    {{"never_torn", "a get returned bytes that are no whole value of the key"},
     {"never_lost", "what was acknowledged as persistent is gone after a power cut"},
     {"monotonic_reads", "a get returned an older value than a get before it"},
     {"buffered_durable", "a get did not see what was acknowledged before it"},
     {"durably_linearizable", "a get did not see what was acknowledged before it, or before a cut"},
     {"answers", "an operation got no answer, or one that the contract of stores does not know"},
     {"recovers", "the store did not come back after a power cut"},
     {"keeps_times", "a key was not what its time and the changes of it allow"},
     {"settles", "the store never came to rest"},
     {"usable", "the store could not be used"}}};

}  // namespace

std::span<const Question> questions() {
  return all_questions;
}

Result<std::optional<Promise>> parse_hold_to(const std::string& name) {
  if (name == "own") {
    return std::optional<Promise>();
  }
  for (const Question& question : all_questions) {
    if (question.name == name) {
      return std::optional(question.promise);
    }
  }
  return Status(Code::invalid_argument,
                "unknown promise '" + name + "'; choose own, whole, monotonic or persistent");
}

std::string_view meaning_of_rule(std::string_view rule) {
  const auto found =
      std::ranges::find(meanings, rule, &std::pair<std::string_view, std::string_view>::first);
  return found == meanings.end() ? rule : found->second;
}

}  // namespace remora::cli
