// Experiments: what the figures of the papers can ask for. Each has a name, which a figure's
// parameter "experiment" says ("store" where it says nothing), and knows what of it can be modelled
// and what can be measured on this machine. A run whose operations fail has failed with the first
// of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/figures/library.h"
#include "lab/figures/runs.h"
#include "lab/run/modelled.h"
#include "link/wires.h"

namespace remora::lab {

struct FigureRunOptions {
  std::uint64_t operations = 4'000;
  std::uint64_t records = 1'000;
  std::uint64_t seed = 1;
  std::uint64_t warm_up_limit = 30'000;      // operations after which a modelled run is a burst
  std::uint32_t request_cores = 0;           // 0: as many as the figure says
  store_bench::ProfileNumbers numbers = {};  // of the paper's profile, set otherwise
};

struct FigureValues {
  std::vector<std::optional<double>> values;  // by slot; nothing for what the run does not tell
  bool is_burst = false;                      // modelled, and not steady
  double persistent_share = 1;                // modelled: of what was put, in the end
};

class Experiment {
 public:
  virtual ~Experiment() = default;

  virtual std::string_view name() const = 0;
  // In virtual time, by the profile of the paper's hardware.
  virtual Result<FigureValues> model(const figures::FigureRun& run, const figures::Profile& profile,
                                     const FigureRunOptions& options) const = 0;
  // Why there is no way to measure such a run here; empty where there is one.
  virtual std::string why_not_measured(const figures::FigureRun& run) const = 0;
  // In real time on this machine.
  virtual Result<FigureValues> measure(const figures::FigureRun& run, link::WireKind wire,
                                       const FigureRunOptions& options) const = 0;
};

// All of them, the one that a figure means that names none first.
const std::vector<const Experiment*>& experiments();
// The one that the parameters name; a name that none of them has is a kind of store experiment.
const Experiment& experiment_of(const figures::Parameters& parameters);

}  // namespace remora::lab
