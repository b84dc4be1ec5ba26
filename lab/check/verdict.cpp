#include "lab/check/verdict.h"

#include <fmt/format.h>

#include <iterator>

namespace remora {
namespace {

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

void Verdict::add(Verdict other) {
  append(violations, other.violations);
  append(undecided, other.undecided);
}

std::string to_text(const Verdict& verdict) {
  if (verdict.passed()) {
    return "passed\n";
  }
  std::string text;
  for (const Violation& violation : verdict.violations) {
    text += fmt::format("{} violated for key '{}': {}\n", violation.rule, violation.key,
                        violation.explanation);
  }
  for (const Undecided& undecided : verdict.undecided) {
    text += fmt::format("{} undecided for key '{}': {}\n", undecided.rule, undecided.key,
                        undecided.why);
  }
  return text;
}

}  // namespace remora
