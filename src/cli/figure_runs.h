// One run of a figure: what its parameters ask for, performed, and what it says about each slot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/figures/library.h"
#include "sim/figures/runs.h"

namespace remora::cli {

struct FigureRunOptions {
  std::uint64_t operations = 4'000;
  std::uint64_t records = 1'000;
  std::uint64_t seed = 1;
  std::uint64_t warm_up_limit = 30'000;  // operations after which a modelled run is a burst
  std::uint32_t request_cores = 0;       // 0: as many as the figure says
};

struct FigureValues {
  std::vector<std::optional<double>> values;  // by slot; nothing for what the run does not tell
  bool is_burst = false;                      // modelled, and not steady
  double persistent_share = 1;                // modelled: of what was put, in the end
};

// In virtual time, by the profile of the paper's hardware. A run of which an operation failed has
// failed with it, here and below.
Result<FigureValues> run_modelled_figure(const figures::FigureRun& run,
                                         const figures::Profile& profile,
                                         const FigureRunOptions& options);

// Why there is no way to measure such a run here; empty where there is one.
std::string why_not_measured(const figures::FigureRun& run);
// In real time on this machine, "ring", "mapped" or "roce".
Result<FigureValues> run_measured_figure(const figures::FigureRun& run, const std::string& fabric,
                                         const FigureRunOptions& options);

}  // namespace remora::cli
