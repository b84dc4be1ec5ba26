// What a checker says about a history.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/check/history.h"

namespace remora {

struct Violation {
  std::string_view rule;  // the checker's name
  std::string key;
  std::string explanation;  // for a person: which operations, which values, which times
  std::vector<OperationIndex> operations;  // those that the explanation is about
};

// A key about which a bounded search came to no conclusion.
struct Undecided {
  std::string_view rule;
  std::string key;
  std::string why;
};

struct Verdict {
  std::vector<Violation> violations;
  std::vector<Undecided> undecided;

  // An undecided history has not passed.
  bool passed() const { return violations.empty() && undecided.empty(); }

  void add(Verdict other);
};

// One paragraph for each violation and each undecided key; "passed" when there is none.
std::string to_text(const Verdict& verdict);

}  // namespace remora
