// The looks of a series by its number: eight colours that people with any colour vision tell apart
// (after Okabe and Ito, the yellow darkened so that it shows on white), and, since colour alone is
// not enough, markers, dashes and hatches. The first 32 differ.
#pragma once

#include <cstddef>
#include <vector>

#include "lab/figures/canvas.h"

namespace remora::figures {

inline Colour colour_of(std::size_t style) {
  constexpr Colour colours[] = {{0.00, 0.45, 0.70},   // blue
                                {0.90, 0.62, 0.00},   // orange
                                {0.00, 0.62, 0.45},   // bluish green
                                {0.80, 0.47, 0.65},   // reddish purple
                                {0.34, 0.71, 0.91},   // sky blue
                                {0.84, 0.37, 0.00},   // vermilion
                                {0.83, 0.76, 0.10},   // yellow
                                {0.25, 0.25, 0.25}};  // near black
  return colours[style % 8];
}

inline Marker marker_of(std::size_t style) {
  constexpr Marker markers[] = {Marker::circle, Marker::square, Marker::triangle, Marker::diamond,
                                Marker::cross,  Marker::ring,   Marker::plus,     Marker::star};
  return markers[style % 8];
}

inline std::vector<double> dashes_of(std::size_t style) {
  switch (style / 8 % 4) {
    case 0:
      return {};
    case 1:
      return {7, 3};
    case 2:
      return {2, 2.5};
    default:
      return {8, 3, 2, 3};
  }
}

inline Hatch hatch_of(std::size_t style) {
  constexpr Hatch hatches[] = {Hatch::none, Hatch::rising, Hatch::falling, Hatch::crossed};
  return hatches[style / 8 % 4];
}

constexpr Colour ink{0.13, 0.13, 0.13};
constexpr Colour faint_ink{0.42, 0.42, 0.42};
constexpr Colour grid_ink{0.88, 0.88, 0.88};
constexpr Colour white{1, 1, 1};
constexpr Colour modelled_ink{0.00, 0.32, 0.55};
constexpr Colour measured_ink{0.60, 0.25, 0.00};

}  // namespace remora::figures
