#include "cli/store_bench/store_bench.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/size_text.h"
#include "cli/store_bench/lists.h"

namespace remora::cli {
namespace {

constexpr std::uint32_t clients_max = 1000;
constexpr std::uint32_t measured_clients_max = fabric::nic::ring::limits::links_max;

Result<std::uint32_t> parse_clients(const std::string& text, const std::string& fabric) {
  const std::uint32_t most = fabric == "sim" ? clients_max : measured_clients_max;
  std::uint32_t clients = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), clients);
  if (error != std::errc() || end != text.data() + text.size() || clients < 1 || clients > most) {
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\" is no number of clients; choose 1 to {} (or several, as in "
                              "1,2,4)",
                              text, most));
  }
  return clients;
}

Status check_fabric(const std::string& name) {
  if (name != "sim" && !link::parse_wire_kind(name) && !fabric::verbs::parse_wire(name)) {
    return Status(Code::invalid_argument,
                  fmt::format("unknown fabric '{}'; choose sim (modelled), ring, mapped, roce or "
                              "verbs[:DEVICE] (measured)",
                              name));
  }
  return {};
}

Status read_media(const StoreBenchOptions& options, StoreBenchRun& run) {
  const std::vector<std::string>& media = options.media;
  if (media.size() == 1 && media[0] == "dram") {
    run.media = "dram";
    return {};
  }
  if (media.size() == 2 && media[0] == "file") {
    if (options.fabric == "sim") {
      return Status(
          Code::invalid_argument,
          "a modelled run has no file; say --memory-profile, or --fabric ring, mapped or roce");
    }
    run.media = "file";
    run.pool_path = media[1];
    return {};
  }
  return Status(Code::invalid_argument, "choose --media dram, or --media file PATH");
}

Status read_durability(const std::string& text, StoreBenchRun& run) {
  if (text != "standard" && text != "persistent") {
    return Status(Code::invalid_argument,
                  fmt::format("unknown durability '{}'; choose standard (what the engine promises "
                              "by itself) or persistent",
                              text));
  }
  run.durability = text == "standard" ? kv::Durability::standard : kv::Durability::persistent;
  return {};
}

// What all runs have in common.
Result<StoreBenchRun> common_part(const StoreBenchOptions& options) {
  StoreBenchRun run;
  REMORA_TRY(check_fabric(options.fabric));
  REMORA_TRY(read_media(options, run));
  REMORA_TRY(read_durability(options.durability, run));
  REMORA_TRY_RESULT(verify_reads, kv::parse_verify_reads(options.verify_reads));
  run.verify_reads = *verify_reads;
  REMORA_TRY_RESULT(keys, workload::KeyTexts::parse(options.key_size));
  if (!options.distribution.empty()) {
    REMORA_TRY_RESULT(chosen, workload::parse_distribution(options.distribution));
    run.distribution = *chosen;
  }
  if (!options.pool_size.empty()) {
    REMORA_TRY_RESULT(size_bytes, parse_size(options.pool_size));
    run.pool_bytes = *size_bytes;
  }
  if (options.fabric == "sim") {
    if (const auto profile = fabric::nic::sim::load_profile(options.profile); !profile.ok()) {
      return profile.status();
    }
  }
  run.fabric = options.fabric;
  run.depth = options.depth;
  run.processes = options.processes;
  run.profile = options.profile;
  run.plan.keys = *keys;
  run.plan.records = options.records;
  run.plan.operations = options.operations;
  run.plan.warm_up = options.warm_up;
  run.plan.seed = options.seed;
  return run;
}

Status choose(const std::string& engine, const std::string& workload, const std::string& value_size,
              const std::string& clients, StoreBenchRun& run) {
  REMORA_TRY_RESULT(found, kv::find_engine(engine));
  run.engine = (*found)->name();
  REMORA_TRY_RESULT(mix, workload::parse_workload(workload));
  run.plan.workload = std::move(mix).value();
  if (run.distribution) {
    run.plan.workload.distribution = *run.distribution;
  }
  REMORA_TRY_RESULT(values, workload::ValueSizes::parse(value_size));
  run.plan.values = *values;
  REMORA_TRY_RESULT(count, parse_clients(clients, run.fabric));
  run.plan.clients = *count;
  return workload::validate(run.plan);
}

}  // namespace

Result<std::vector<StoreBenchRun>> plan_runs(const StoreBenchOptions& options) {
  REMORA_TRY_RESULT(common, common_part(options));
  std::vector<StoreBenchRun> runs;
  for (const std::string& workload : split_list(options.workloads)) {
    for (const std::string& value_size : split_list(options.value_sizes, "zipf")) {
      for (const std::string& clients : split_list(options.clients)) {
        for (const std::string& engine : split_list(options.engines)) {
          runs.push_back(*common);
          REMORA_TRY(choose(engine, workload, value_size, clients, runs.back()));
        }
      }
    }
  }
  return runs;
}

Result<StoreBenchResult> run_store_bench(const StoreBenchRun& run, const OnProgress& progress) {
  StoreBenchResult result;
  result.modelled = run.fabric == "sim";
  if (result.modelled) {
    REMORA_TRY_RESULT(report, store_bench::run_modelled({.engine = run.engine,
                                                         .plan = run.plan,
                                                         .depth = run.depth,
                                                         .profile = run.profile,
                                                         .durability = run.durability,
                                                         .verify_reads = run.verify_reads,
                                                         .pool_bytes = run.pool_bytes,
                                                         .progress = progress}));
    result.model = std::move(report).value();
    return result;
  }
  REMORA_TRY_RESULT(
      report,
      lab::run_measured({.engine = run.engine,
                         .plan = run.plan,
                         .depth = run.depth,
                         .processes = run.processes,
                         .fabric = link::parse_wire_kind(run.fabric).value_or(link::WireKind::ring),
                         .verbs = fabric::verbs::parse_wire(run.fabric),
                         .durability = run.durability,
                         .verify_reads = run.verify_reads,
                         .pool_path = run.pool_path,
                         .pool_bytes = run.pool_bytes,
                         .progress = progress}));
  result.measured = std::move(report).value();
  return result;
}

}  // namespace remora::cli
