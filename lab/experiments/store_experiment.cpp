#include "lab/experiments/store_experiment.h"

#include <utility>

#include "lab/experiments/machine_parameters.h"
#include "lab/experiments/readings.h"
#include "lab/measured/measured.h"
#include "lab/run/modelled.h"

namespace remora::lab {
namespace {

// What the parameters say of a store and of its load, in whatever world.
struct StoreExperimentRun {
  std::string engine;
  std::string way;  // in place of the engine, in the model (lab/run/ways.h)
  workload::Plan plan;
  bool cleaning = false;  // the log is cleaned all the time
};

// One size, or what else the bench takes: "64-4K", "64:0.5,4K:0.5".
Result<std::string> sizes_of(const figures::Parameters& parameters, const std::string& name) {
  const Result<std::int64_t> one = parameters.integer(name);
  return one.ok() ? Result<std::string>(std::to_string(*one)) : parameters.text(name);
}

Result<StoreExperimentRun> store_run_of(const figures::Parameters& parameters,
                                        const FigureRunOptions& options) {
  const Result<std::string> engine = parameters.text("engine");
  const Result<std::string> way = parameters.text("way");
  const Result<std::string> name = parameters.text("workload");
  const Result<std::int64_t> clients = parameters.integer("clients");
  const Result<std::string> key_bytes = sizes_of(parameters, "key_size_bytes");
  const Result<std::string> value_bytes = sizes_of(parameters, "value_size_bytes");
  for (const Status& status : {engine.status(), name.status(), clients.status(), key_bytes.status(),
                               value_bytes.status()}) {
    REMORA_TRY(status);
  }
  Result<workload::Workload> workload = workload::parse_workload(*name);
  Result<workload::KeyTexts> keys = workload::KeyTexts::parse(*key_bytes);
  Result<workload::ValueSizes> values = workload::ValueSizes::parse(*value_bytes);
  for (const Status& status : {workload.status(), keys.status(), values.status()}) {
    REMORA_TRY(status);
  }
  StoreExperimentRun run;
  run.engine = *engine;
  run.way = way.ok() ? *way : "";
  run.plan.workload = *workload;
  run.plan.keys = *keys;
  run.plan.values = *values;
  run.plan.clients = static_cast<std::uint32_t>(*clients);
  run.plan.records = options.records;
  run.plan.operations = options.operations;
  run.plan.warm_up = options.operations / 4;
  run.plan.seed = options.seed;
  const Result<bool> cleaning = parameters.flag("cleaning");
  run.cleaning = cleaning.ok() && *cleaning;
  return run;
}

}  // namespace

Result<FigureValues> StoreExperiment::model(const figures::FigureRun& run,
                                            const figures::Profile& profile,
                                            const FigureRunOptions& options) const {
  REMORA_TRY_RESULT(store, store_run_of(run.parameters, options));
  store_bench::ModelledOptions modelled;
  modelled.engine = store->engine;
  modelled.way = store->way;
  modelled.plan = store->plan;
  modelled.plan.warm_up = 0;  // until it is steady
  modelled.steady.limit = options.warm_up_limit;
  modelled.server.clean_always = store->cleaning;
  REMORA_TRY(read_machines(run.parameters, options, modelled));
  modelled.profile = names_of(profile);
  modelled.numbers = options.numbers;
  const Result<store_bench::ModelledReport> report = store_bench::run_modelled(modelled);
  return report.ok() ? values_of(run, *report) : report.status();
}

std::string StoreExperiment::why_not_measured(const figures::FigureRun& run) const {
  return run.parameters.has("way") ? "single differences between designs are modelled alone"
                                   : why_parts_are_not_measured(run);
}

Result<FigureValues> StoreExperiment::measure(const figures::FigureRun& run, link::WireKind wire,
                                              const FigureRunOptions& options) const {
  REMORA_TRY_RESULT(store, store_run_of(run.parameters, options));
  MeasuredOptions measured;
  measured.engine = store->engine;
  measured.plan = store->plan;
  measured.clean_always = store->cleaning;
  measured.fabric = wire;
  const Result<MeasuredReport> report = run_measured(measured);
  return report.ok() ? values_of(run, static_cast<const store_bench::Report&>(*report))
                     : report.status();
}

}  // namespace remora::lab
