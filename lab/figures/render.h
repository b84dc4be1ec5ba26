// Pictures as bytes: the same drawing as SVG and as PNG.
//
// Text in the SVG is outlines, so it looks the same where the font is missing; what the picture is
// and whether it is modelled or measured is also said in its <title> and <desc>. Where no font is
// installed at all, cairo's own stroke font serves.
#pragma once

#include <string>

#include "base/result.h"
#include "lab/figures/chart.h"

namespace remora::figures {

Result<std::string> to_svg(const Chart& chart);

// `scale` pixels to a point of the picture, above 0.
Result<std::string> to_png(const Chart& chart, double scale = 2);

}  // namespace remora::figures
