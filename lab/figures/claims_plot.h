// The claims of one figure in one plot: what the paper has, what was modelled and what was
// measured, on one axis, claim by claim. SVG to be put into a page.
#pragma once

#include <string>
#include <vector>

#include "lab/figures/judge.h"

namespace remora::figures {

// Empty where none of the claims has numbers.
std::string claims_plot(const std::vector<const Judgement*>& judgements);

// "eFactory's throughput / IMM's", for a person: subject, rival and metric of a claim.
std::string about(const Claim& claim);

}  // namespace remora::figures
