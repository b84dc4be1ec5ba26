#include "cli/figure_runs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/store_bench/measured.h"
#include "cli/store_bench/measured_writes.h"
#include "sim/bench/modelled.h"
#include "sim/bench/remote_write.h"

namespace remora::cli {
namespace {

// What the parameters say of a store and of its load, in whatever world.
struct StoreRun {
  std::string engine;
  workload::Plan plan;
  bool cleaning = false;  // the log is cleaned all the time
  store_bench::ServerCores cores = {};
  std::size_t awaited_versions = kv::ServerOptions().awaited_versions;
};

// Of the server's machine; a figure without a store's server says nothing of it.
Status read_cores(const figures::Parameters& parameters, const FigureRunOptions& options,
                  StoreRun& run) {
  const Result<std::int64_t> request = parameters.integer("request_cores");
  if (!request.ok()) {
    return {};
  }
  const Result<std::int64_t> background = parameters.integer("background_cores");
  const Result<std::string> spread = parameters.text("spread");
  const Result<std::int64_t> awaited = parameters.integer("awaited_versions");
  for (const Status& status : {background.status(), spread.status(), awaited.status()}) {
    REMORA_TRY(status);
  }
  const std::optional<Spread> known = parse_spread(*spread);
  if (!known || *request < 1 || *background < 0 || *awaited < 1) {
    return Status(Code::invalid_argument,
                  "a figure's spread is by-client, any or dispatched, over at least one request "
                  "core; and at least one version is awaited");
  }
  run.cores = {.request = options.request_cores != 0 ? options.request_cores
                                                     : static_cast<std::uint32_t>(*request),
               .background = static_cast<std::uint32_t>(*background),
               .spread = *known};
  run.awaited_versions = static_cast<std::size_t>(*awaited);
  return {};
}

Result<StoreRun> store_run_of(const figures::Parameters& parameters,
                              const FigureRunOptions& options) {
  const Result<std::string> engine = parameters.text("engine");
  const Result<std::string> name = parameters.text("workload");
  const Result<std::int64_t> clients = parameters.integer("clients");
  const Result<std::int64_t> key_bytes = parameters.integer("key_size_bytes");
  const Result<std::int64_t> value_bytes = parameters.integer("value_size_bytes");
  for (const Status& status : {engine.status(), name.status(), clients.status(), key_bytes.status(),
                               value_bytes.status()}) {
    REMORA_TRY(status);
  }
  Result<workload::Workload> workload = workload::parse_workload(*name);
  Result<workload::KeyTexts> keys = workload::KeyTexts::parse(std::to_string(*key_bytes));
  Result<workload::ValueSizes> values = workload::ValueSizes::parse(std::to_string(*value_bytes));
  for (const Status& status : {workload.status(), keys.status(), values.status()}) {
    REMORA_TRY(status);
  }
  StoreRun run;
  run.engine = *engine;
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
  REMORA_TRY(read_cores(parameters, options, run));
  return run;
}

bool is_remote_write(const figures::Parameters& parameters) {
  const Result<std::string> experiment = parameters.text("experiment");
  return experiment.ok() && *experiment == "remote-write";
}

Result<store_bench::ModelledReport> model(const StoreRun& run,
                                          const figures::Parameters& parameters,
                                          const figures::Profile& profile,
                                          const FigureRunOptions& figure) {
  fabric::nic::ProfileNames names;
  names.nic = profile.nic;
  names.memory = profile.memory;
  names.cpu = profile.cpu;
  if (is_remote_write(parameters)) {
    return store_bench::run_remote_writes(
        {.method = run.engine,
         .size_bytes = static_cast<std::uint32_t>(run.plan.values.largest_bytes()),
         .operations = run.plan.operations,
         .warm_up = run.plan.warm_up,
         .seed = run.plan.seed,
         .profile = names});
  }
  store_bench::ModelledOptions options;
  options.engine = run.engine;
  options.plan = run.plan;
  options.plan.warm_up = 0;  // until it is steady
  options.cores = run.cores;
  options.steady.limit = figure.warm_up_limit;
  options.server.clean_always = run.cleaning;
  options.server.awaited_versions = run.awaited_versions;
  options.profile = names;
  return store_bench::run_modelled(options);
}

Result<store_bench::Report> measure_remote_writes(const StoreRun& run, server::LocalFabric wire) {
  const Result<store_bench::WriteMethod> method = store_bench::parse_write_method(run.engine);
  if (!method.ok()) {
    return method.status();
  }
  return run_measured_writes(
      {.method = *method,
       .size_bytes = static_cast<std::uint32_t>(run.plan.values.largest_bytes()),
       .operations = run.plan.operations,
       .warm_up = run.plan.warm_up,
       .fabric = wire});
}

Result<store_bench::Report> measure(const StoreRun& run, server::LocalFabric wire) {
  MeasuredOptions options;
  options.engine = run.engine;
  options.plan = run.plan;
  options.clean_always = run.cleaning;
  options.fabric = wire;
  Result<MeasuredReport> report = run_measured(options);
  if (!report.ok()) {
    return report.status();
  }
  return store_bench::Report(std::move(report).value());
}

double us(std::uint64_t total_ns, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count) / 1e3;
}

// Where the time of an operation went; only a model knows.
std::optional<double> part_of(const store_bench::ModelledReport& report, const std::string& part) {
  const workload::Summary& all = report.all;
  const HostTally& client = report.client_cpu;
  const HostTally& server = report.server_cpu;
  const double crc = us(client.crc_ns + server.crc_ns, all.count);
  const double persist = us(client.persist_ns + server.persist_ns, all.count);
  const double other =
      us(client.other_ns + client.copy_ns + server.other_ns + server.copy_ns, all.count);
  const std::map<std::string, double> parts = {
      {"crc", crc},
      {"persist", persist},
      {"other", other},
      {"network", std::max(0.0, all.mean_ns / 1e3 - crc - persist - other)}};
  const auto found = parts.find(part);
  return found == parts.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> whole_of(const store_bench::Report& report, const std::string& metric) {
  const workload::Summary& all = report.all;
  if (metric == "throughput_ops_per_s") {
    return report.ops_per_s;
  }
  if (metric == "latency_p50_us") {
    return static_cast<double>(all.p50_ns) / 1e3;
  }
  if (metric == "latency_p99_us") {
    return static_cast<double>(all.p99_ns) / 1e3;
  }
  if (metric == "latency_mean_us") {
    return all.mean_ns / 1e3;
  }
  return std::nullopt;
}

}  // namespace

Result<FigureValues> run_modelled_figure(const figures::FigureRun& run,
                                         const figures::Profile& profile,
                                         const FigureRunOptions& options) {
  const Result<StoreRun> store = store_run_of(run.parameters, options);
  if (!store.ok()) {
    return store.status();
  }
  const Result<store_bench::ModelledReport> report =
      model(*store, run.parameters, profile, options);
  if (!report.ok()) {
    return report.status();
  }
  REMORA_TRY(report->first_failure);
  FigureValues values;
  values.is_burst = !report->steady;
  values.persistent_share = report->persistent_share;
  for (const figures::Slot& slot : run.slots) {
    values.values.push_back(slot.point.part.empty() ? whole_of(*report, slot.metric)
                                                    : part_of(*report, slot.point.part));
  }
  return values;
}

std::string why_not_measured(const figures::FigureRun& run) {
  const bool in_parts = std::ranges::any_of(
      run.slots, [](const figures::Slot& slot) { return !slot.point.part.empty(); });
  return in_parts ? "it shows the parts of a latency, which a clock outside of the store cannot "
                    "tell apart; only the model knows what each of them takes"
                  : "";
}

Result<FigureValues> run_measured_figure(const figures::FigureRun& run, const std::string& fabric,
                                         const FigureRunOptions& options) {
  const Result<StoreRun> store = store_run_of(run.parameters, options);
  if (!store.ok()) {
    return store.status();
  }
  const server::LocalFabric wire = server::parse_fabric(fabric).value_or(server::LocalFabric::ring);
  const Result<store_bench::Report> report =
      is_remote_write(run.parameters) ? measure_remote_writes(*store, wire) : measure(*store, wire);
  if (!report.ok()) {
    return report.status();
  }
  REMORA_TRY(report->first_failure);
  FigureValues values;
  for (const figures::Slot& slot : run.slots) {
    values.values.push_back(whole_of(*report, slot.metric));
  }
  return values;
}

}  // namespace remora::cli
