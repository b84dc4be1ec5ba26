#include "cli/store_bench/print.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace remora::cli {

using workload::Kind;
using workload::Summary;

namespace {

double microseconds(double ns) {
  return ns / 1e3;
}
double microseconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

nlohmann::ordered_json to_json(const Summary& summary) {
  return {
      {"count", summary.count},     {"misses", summary.missing},  {"failures", summary.failures},
      {"mean_ns", summary.mean_ns}, {"min_ns", summary.min_ns},   {"p50_ns", summary.p50_ns},
      {"p99_ns", summary.p99_ns},   {"p999_ns", summary.p999_ns}, {"max_ns", summary.max_ns}};
}

nlohmann::ordered_json to_json(const HostTally& tally) {
  return {{"crc_ns", tally.crc_ns},
          {"copy_ns", tally.copy_ns},
          {"persist_ns", tally.persist_ns},
          {"other_ns", tally.other_ns}};
}

// A number where all values have one size.
nlohmann::ordered_json value_size_of(const workload::ValueSizes& values) {
  if (values.smallest_bytes() == values.largest_bytes()) {
    return values.largest_bytes();
  }
  return values.to_string();
}

void add_model(const StoreBenchRun& run, const store_bench::ModelledReport& report,
               nlohmann::ordered_json& json) {
  json["memory_profile"] = run.profile.memory;
  json["cpu_profile"] = run.profile.cpu;
  json["server_core_load"] = report.server_core_load;
  json["background_core_load"] = report.background_core_load;
  json["steady"] = report.steady;
  json["warmed_up"] = report.warmed_up;
  json["backlog"] = report.backlog;
  json["persistent_share"] = report.persistent_share;
  json["server_cpu"] = to_json(report.server_cpu);
  json["client_cpu"] = to_json(report.client_cpu);
  json["events"] = report.events;
  json["trace_hash"] = fmt::format("{:016x}", report.trace_hash);
}

}  // namespace

void print_row(const StoreBenchRun& run, const StoreBenchResult& result, bool first) {
  if (first) {
    fmt::print(
        "{:<16} {:<12} {:>9} {:>7} {:>6} {:>7} {:>11} {:>8} {:>8} {:>8} {:>9} {:>7} {:>8}"
        "  {}\n",
        "engine", "workload", "value B", "clients", "depth", "fabric", "ops/s", "mean us", "p50 us",
        "p99 us", "p99.9 us", "misses", "failures", "kind");
  }
  const store_bench::Report& report = result.report();
  fmt::print(
      "{:<16} {:<12} {:>9} {:>7} {:>6} {:>7} {:>11.0f} {:>8.2f} {:>8.2f} {:>8.2f} {:>9.2f} "
      "{:>7} {:>8}  {}\n",
      run.engine, run.plan.workload.name, run.plan.values.to_string(), run.plan.clients, run.depth,
      run.fabric, report.ops_per_s, microseconds(report.all.mean_ns),
      microseconds(report.all.p50_ns), microseconds(report.all.p99_ns),
      microseconds(report.all.p999_ns), report.all.missing, report.all.failures,
      result.modelled ? "modelled" : "measured");
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const StoreBenchRun& run, const StoreBenchResult& result) {
  const store_bench::Report& report = result.report();
  nlohmann::ordered_json json = {
      {"engine", run.engine},
      {"workload", run.plan.workload.name},
      {"distribution", workload::to_string(run.plan.workload.distribution)},
      {"value_size_bytes", value_size_of(run.plan.values)},
      {"key_size_bytes", run.plan.keys.to_string()},
      {"clients", run.plan.clients},
      {"depth", run.depth},
      {"records", run.plan.records},
      {"warm_up", run.plan.warm_up},
      {"ops", run.plan.operations},
      {"seed", run.plan.seed},
      {"durability", run.durability == kv::Durability::standard ? "standard" : "persistent"},
      {"verify_reads", kv::to_string(run.verify_reads)},
      {"media", run.media},
      {"fabric", run.fabric},
      {"profile", nullptr},
      {"ops_per_s", report.ops_per_s},
      {"span_ns", report.span_ns},
      {"mean_ns", report.all.mean_ns},
      {"p50_ns", report.all.p50_ns},
      {"p99_ns", report.all.p99_ns},
      {"p999_ns", report.all.p999_ns},
      {"misses", report.all.missing},
      {"failures", report.all.failures},
      {"first_failure", nullptr},
      {"kind", result.modelled ? "modelled" : "measured"}};
  if (result.modelled) {
    json["profile"] = run.profile.nic;
  }
  if (!report.first_failure.ok()) {
    json["first_failure"] = report.first_failure.message();
  }
  nlohmann::ordered_json kinds = nlohmann::ordered_json::object();
  for (const Kind kind : workload::all_kinds) {
    const Summary& summary = report.of(kind);
    if (summary.count + summary.failures != 0) {
      kinds[std::string(workload::to_string(kind))] = to_json(summary);
    }
  }
  json["kinds"] = kinds;
  nlohmann::ordered_json counters = nlohmann::ordered_json::object();
  for (const auto& [name, value] : report.counters) {
    counters[name] = value;
  }
  json["counters"] = counters;
  if (result.modelled) {
    add_model(run, result.model, json);
  } else {
    json["requests_by_wire"] = result.measured.requests_by_wire;
    json["requests_short_cut"] = result.measured.requests_short_cut;
  }
  return json;
}

}  // namespace remora::cli
