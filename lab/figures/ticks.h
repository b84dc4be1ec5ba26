// Where an axis has its marks, and what stands there. Pure.
#pragma once

#include <string>
#include <vector>

#include "lab/figures/figure.h"

namespace remora::figures {

struct Tick {
  double value = 0;
  std::string label;  // empty for a minor mark
};

struct Ticks {
  double low = 0;  // the ends of the axis
  double high = 1;
  std::vector<Tick> ticks;  // ascending
};

// From 0 to at least `highest`, at steps of 1, 2 or 5 times a power of ten, about `count` of them.
Ticks linear_ticks(double highest, int count);

// Whole powers of ten around [lowest, highest], both above 0, with minor marks between them; where
// that is a single power, 2 and 5 are named too.
Ticks log10_ticks(double lowest, double highest);

// "0", "250", "1.5k", "2M": four characters or so.
std::string short_number(double value);

}  // namespace remora::figures
