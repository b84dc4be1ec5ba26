#include "lab/experiments/remote_write_experiment.h"

#include "lab/experiments/readings.h"
#include "lab/measured/measured_writes.h"
#include "lab/run/remote_write.h"

namespace remora::lab {
namespace {

struct Writes {
  std::string method;
  std::uint32_t size_bytes = 0;
};

Result<Writes> writes_of(const figures::Parameters& parameters) {
  const Result<std::string> method = parameters.text("engine");
  const Result<std::int64_t> size_bytes = parameters.integer("value_size_bytes");
  for (const Status& status : {method.status(), size_bytes.status()}) {
    REMORA_TRY(status);
  }
  if (*size_bytes < 0 || *size_bytes > UINT32_MAX) {
    return Status(Code::invalid_argument, "a remote write has 0 to 4G - 1 bytes");
  }
  return Writes{*method, static_cast<std::uint32_t>(*size_bytes)};
}

}  // namespace

Result<FigureValues> RemoteWriteExperiment::model(const figures::FigureRun& run,
                                                  const figures::Profile& profile,
                                                  const FigureRunOptions& options) const {
  REMORA_TRY_RESULT(writes, writes_of(run.parameters));
  const Result<store_bench::ModelledReport> report =
      store_bench::run_remote_writes({.method = writes->method,
                                      .size_bytes = writes->size_bytes,
                                      .operations = options.operations,
                                      .warm_up = options.operations / 4,
                                      .seed = options.seed,
                                      .profile = names_of(profile),
                                      .numbers = options.numbers});
  return report.ok() ? values_of(run, *report) : report.status();
}

std::string RemoteWriteExperiment::why_not_measured(const figures::FigureRun& run) const {
  return why_parts_are_not_measured(run);
}

Result<FigureValues> RemoteWriteExperiment::measure(const figures::FigureRun& run,
                                                    link::WireKind wire,
                                                    const FigureRunOptions& options) const {
  REMORA_TRY_RESULT(writes, writes_of(run.parameters));
  REMORA_TRY_RESULT(method, store_bench::parse_write_method(writes->method));
  const Result<store_bench::Report> report = run_measured_writes({.method = *method,
                                                                  .size_bytes = writes->size_bytes,
                                                                  .operations = options.operations,
                                                                  .warm_up = options.operations / 4,
                                                                  .fabric = wire});
  return report.ok() ? values_of(run, *report) : report.status();
}

}  // namespace remora::lab
