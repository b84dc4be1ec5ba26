// What a report tells of the slots of a figure.
#pragma once

#include <string>

#include "lab/experiments/experiment.h"
#include "lab/run/modelled.h"

namespace remora::lab {

fabric::nic::sim::ProfileNames names_of(const figures::Profile& profile);

// Of a model, which also knows where the time of an operation went.
Result<FigureValues> values_of(const figures::FigureRun& run,
                               const store_bench::ModelledReport& report);
Result<FigureValues> values_of(const figures::FigureRun& run, const store_bench::Report& report);

// Why a run cannot be measured whose slots are parts of a latency; empty where none is.
std::string why_parts_are_not_measured(const figures::FigureRun& run);

}  // namespace remora::lab
