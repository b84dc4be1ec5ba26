// check: all invariants in one place. A history is held to the promise that its engine declared,
// and to nothing more.
#pragma once

#include <cstdint>
#include <string>

#include "kv/promise.h"
#include "lab/check/linearizable.h"
#include "lab/check/verdict.h"

namespace remora {

// For people: one sentence.
std::string to_text(const Promise& promise);

// Runs the checkers that the promise calls for. Where it says persistent, every acknowledgement in
// the history counts as persistent, however it was recorded; where it says less, those that were
// recorded as persistent (an explicit flush) still count as such.
Verdict check(const History& history, const Promise& promise,
              std::uint64_t budget_states = default_budget_states);

}  // namespace remora
