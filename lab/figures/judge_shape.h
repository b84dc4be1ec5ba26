// The verdict on a shape, and on what lacks data. Part of the judge.
#pragma once

#include <span>

#include "lab/figures/judge.h"

namespace remora::figures {

// Within if every condition holds for every number of its reading; no_data if there is no condition
// or one lacks numbers.
Outcome judge_shape(const Figure& figure, std::span<const Condition> conditions,
                    const Observations& observations, Origin origin);

// The outcome of an incomplete reading: what is missing.
Outcome no_data(const Figure& figure, const Numbers& numbers, const Observations& observations,
                Origin origin);

}  // namespace remora::figures
