#include "lab/rpc/call_bench.h"

#include <fmt/format.h>

#include "lab/rpc/design_engine.h"
#include "link/wires.h"
#include "rpc/designs/design.h"

namespace remora::lab {

namespace {

// Long, since processes stand still at times on a machine that has other work to do.
constexpr std::uint64_t measured_timeout_ns = 10'000'000'000;
constexpr std::uint64_t modelled_timeout_ns = 1'000'000'000;

Status validate(const CallBench& bench) {
  REMORA_TRY(workload::validate(bench.plan));
  if (bench.plan.values.smallest_bytes() != bench.plan.values.largest_bytes() ||
      bench.plan.values.largest_bytes() == 0) {
    return Status(Code::invalid_argument, "objects have one size, of a byte at least");
  }
  if (bench.window == 0 || bench.window > rpc::most_window) {
    return Status(Code::invalid_argument, fmt::format("the window is 1 to {}", rpc::most_window));
  }
  if (bench.plan.workload.weight(workload::Kind::del) > 0) {
    return Status(Code::invalid_argument, "objects are read and written, and not deleted");
  }
  return {};
}

Result<CallReport> run_modelled_calls(const CallBench& bench, const rpc::Design& design) {
  REMORA_TRY_RESULT(profile, store_bench::profile_of(bench.profile, bench.numbers));
  rpc::DesignOptions options = design_options_for(bench);
  options.timeout_ns = modelled_timeout_ns;
  options.system_call_ns = (*profile).cpu.syscall_ns;
  const DesignEngine engine(design, options, bench.work, bench.plan);
  store_bench::ModelledOptions run;
  run.made = &engine;
  run.plan = bench.plan;
  run.cores = bench.cores;
  run.depth = design.is_durable ? 1 : bench.window;
  run.profile = bench.profile;
  run.numbers = bench.numbers;
  run.pool_bytes = engine.pool_bytes();
  run.progress = bench.progress;
  REMORA_TRY_RESULT(model, store_bench::run_modelled(run));
  CallReport report;
  static_cast<store_bench::Report&>(report) = *model;
  report.modelled = true;
  report.model = std::move(model).value();
  return report;
}

}  // namespace

rpc::DesignOptions design_options_for(const CallBench& bench) {
  // As the product has it: who stands still for a while is not given up.
  const fabric::ConnectOptions connect = bench.fabric == "sim"    ? fabric::ConnectOptions()
                                         : bench.fabric == "roce" ? link::network_connect
                                                                  : link::patient_connect;
  return {.most_clients = bench.plan.clients,
          .window = bench.window,
          .body_bytes = call_bytes_for(bench.plan.values.largest_bytes()),
          .timeout_ns = measured_timeout_ns,
          .connect = connect};
}

Result<CallReport> run_calls(const CallBench& bench) {
  REMORA_TRY(validate(bench));
  REMORA_TRY_RESULT(design, rpc::find_design(bench.design));
  if (bench.fabric == "sim") {
    return run_modelled_calls(bench, **design);
  }
  return run_measured_calls(bench);
}

}  // namespace remora::lab
