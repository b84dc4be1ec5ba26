// durably_linearizable: for each key there is one order of its puts, dels and gets, each between
// its invocation and its response, in which every get returns what the last write before it left,
// and in which the cuts change nothing.
//
//   - An acknowledged write took effect.
//   - A write that died pending in a whole-world cut took effect before the cut, or never.
//   - A write whose client outlived a server-only cut may take effect until its response, on
//     whichever side of the cut; without a response, until the end or the next whole-world cut.
//   - A refused write never took effect; one given up did so before that, or never.
//   - A write that was acknowledged as visible, and not as persistent, may be lost at a cut, with
//     whatever came to stand on top of it and was not promised either. All else survives: a pending
//     put that some get returned must not be gone after the cut.
//   - Gets that failed say nothing. Gets of values that are not whole are left to never_torn; a
//     value that nobody wrote is a violation here too.
//
// The search is bounded: budget_states for each key, and 64 operations of one key open at once. Out
// of bounds is undecided, which is not passed. At most one violation for each key.
#pragma once

#include "lab/check/linearizable.h"

namespace remora {

Verdict durably_linearizable(const History& history,
                             std::uint64_t budget_states = default_budget_states);

}  // namespace remora
