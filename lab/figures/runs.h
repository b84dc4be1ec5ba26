// Runs: what has to be run for a figure, and which of its points each run fills.
#pragma once

#include <string>
#include <vector>

#include "lab/figures/figure.h"
#include "lab/figures/observations.h"

namespace remora::figures {

// A point that a run fills, with what is to be observed there. In a stacked figure there is one
// slot for each part of a bar.
struct Slot {
  Point point;
  std::string metric;  // "latency_p50_us"
};

struct FigureRun {
  Parameters parameters;  // of the figure, the panel, the series and x, later ones winning
  std::vector<Slot> slots;
};

// Every run of the figure once: points that need the same parameters share a run. In the order of
// panels, then series, then x.
std::vector<FigureRun> runs_of(const Figure& figure);

}  // namespace remora::figures
