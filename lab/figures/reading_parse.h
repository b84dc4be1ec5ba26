// How the figure files say where a claim's numbers stand. Part of parse_figures.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lab/figures/figure.h"

namespace remora::figures {

// Throws BadField where the object does not fit `figure`, whose series, panels, parts and x are
// set.
ClaimReading parse_claim_reading(const Figure& figure, const nlohmann::json& object,
                                 const std::string& where);

}  // namespace remora::figures
