// Remote writes without a store around them (lab/run/remote_write.h): the parameter "engine" names
// the method.
#pragma once

#include "lab/experiments/experiment.h"

namespace remora::lab {

class RemoteWriteExperiment final : public Experiment {
 public:
  std::string_view name() const override { return "remote-write"; }
  Result<FigureValues> model(const figures::FigureRun& run, const figures::Profile& profile,
                             const FigureRunOptions& options) const override;
  std::string why_not_measured(const figures::FigureRun& run) const override;
  Result<FigureValues> measure(const figures::FigureRun& run, link::WireKind wire,
                               const FigureRunOptions& options) const override;
};

}  // namespace remora::lab
