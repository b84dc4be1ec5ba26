// What durably_linearizable and buffered_durable share: one search for each key, and its result put
// into words.
#pragma once

#include "lab/check/register_search.h"
#include "lab/check/verdict.h"

namespace remora {

inline constexpr std::uint64_t default_budget_states = 1'000'000;

// Holds every key of the history to the register that `cuts` describes. `rule` names the checker in
// the verdict. At most budget_states states for each key; beyond that the key is undecided.
Verdict linearizable(const History& history, CutRule cuts, std::string_view rule,
                     std::uint64_t budget_states);

}  // namespace remora
