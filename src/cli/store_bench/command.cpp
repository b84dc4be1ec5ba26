#include "cli/store_bench/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/store_bench/print.h"
#include "cli/store_bench/store_bench.h"
#include "cli/validators.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

struct StoreBenchArguments {
  StoreBenchOptions options;
  bool json = false;
};

std::string engine_names() {
  std::string names;
  for (const kv::Engine* engine : kv::engines()) {
    names += names.empty() ? "" : ", ";
    names += engine->name();
  }
  return names;
}

Result<StoreBenchResult> run_with_progress(const StoreBenchRun& run) {
  std::optional<Progress> shown;
  return run_store_bench(run, [&](std::uint64_t performed, std::uint64_t planned) {
    if (!shown) {
      shown.emplace(fmt::format("bench {} {}", run.engine, run.plan.workload.name), "operations",
                    planned);
    }
    shown->show(performed);
  });
}

int bench_store(const StoreBenchArguments& arguments) {
  const Result<std::vector<StoreBenchRun>> runs = plan_runs(arguments.options);
  if (!runs.ok()) {
    return fail(runs.status());
  }
  fmt::print(stderr, "bench: {} run(s), fabric {}, {} records, {} operations, seed {}\n",
             runs->size(), arguments.options.fabric, arguments.options.records,
             arguments.options.operations, arguments.options.seed);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  int exit_status = exit_kept;
  for (const StoreBenchRun& run : *runs) {
    const Result<StoreBenchResult> result = run_with_progress(run);
    if (!result.ok()) {
      return fail(result.status());
    }
    if (arguments.json) {
      all.push_back(to_json(run, *result));
    } else {
      print_row(run, *result, &run == &runs->front());
    }
    if (const Status& failure = result->report().first_failure; !failure.ok()) {
      fmt::print(stderr, "remora: {} operations failed, the first with: {}\n",
                 result->report().all.failures, failure.message());
      exit_status = exit_environment;
    }
  }
  if (arguments.json) {
    print_json(all.size() == 1 ? all.front() : all);
  }
  return exit_status;
}

void add_workload_options(CLI::App& bench, StoreBenchOptions& options) {
  bench.add_option("--engine", options.engines, "Engines, as a comma list: " + engine_names())
      ->capture_default_str();
  bench
      .add_option("--workload", options.workloads,
                  "Workloads, as a comma list: a to f (YCSB), update-only, or a mix such as "
                  "read:80,update:20")
      ->capture_default_str();
  bench
      .add_option(
          "--value-size", options.value_sizes,
          "Bytes of values, 0 to 16M, as a comma list: 100, 64-4K, zipf:64-4K, 64:0.5,4K:0.5")
      ->capture_default_str();
  bench.add_option("--key-size", options.key_size, "Bytes of keys: 24, 8-64")
      ->capture_default_str();
  bench.add_option("--distribution", options.distribution,
                   "Which keys are touched: zipfian, uniform or latest, with theta as in "
                   "zipfian:0.9; by default the workload's own");
  bench.add_option("--records", options.records, "Keys that are loaded first")
      ->capture_default_str()
      ->check(whole_number(1));
  bench.add_option("--ops", options.operations, "Operations that are measured")
      ->capture_default_str()
      ->check(whole_number(1));
  bench
      .add_option("--warm-up", options.warm_up,
                  "Operations that warm up the store, before the measured ones")
      ->capture_default_str()
      ->check(whole_number(0));
  bench.add_option("--clients", options.clients, "Clients, as a comma list: 1,2,4")
      ->capture_default_str();
  bench.add_option("--depth", options.depth, "Operations that each client has in flight")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  bench
      .add_option("--processes", options.processes,
                  "Processes that share the clients (measured); 0: one for each processor but one")
      ->capture_default_str()
      ->check(CLI::Range(0, 256));
  bench.add_option("--seed", options.seed, "Seed of the workload, and of the simulated world")
      ->capture_default_str()
      ->check(whole_number(0));
}

void add_world_options(CLI::App& bench, StoreBenchOptions& options) {
  bench
      .add_option("--fabric", options.fabric,
                  "ring, mapped, roce or verbs[:DEVICE] (processes on this machine, measured) or "
                  "sim (modelled)")
      ->capture_default_str();
  bench.add_option("--profile", options.profile.nic, "NIC of the simulated world, or a path")
      ->capture_default_str();
  bench
      .add_option("--memory-profile", options.profile.memory,
                  "Memory of the simulated world, or a path")
      ->capture_default_str();
  bench
      .add_option("--cpu-profile", options.profile.cpu,
                  "Processor of the simulated world, or a path")
      ->capture_default_str();
  bench
      .add_option(
          "--media", options.media,
          "Medium of a measured store: dram, or file PATH (created, and removed afterwards)")
      ->expected(1, 2);
  bench
      .add_option("--durability", options.durability,
                  "Durability of puts: standard (what the engine promises) or persistent")
      ->capture_default_str();
  bench
      .add_option("--verify-reads", options.verify_reads,
                  "Whether clients compute the checksum of what they READ: auto, always or never")
      ->capture_default_str();
  bench.add_option(
      "--pool-size", options.pool_size,
      "Size of the store's pool; by default it has room for every version that is written");
}

}  // namespace

void add_store_bench(CLI::App& bench, int& exit_status) {
  const auto arguments = std::make_shared<StoreBenchArguments>();
  add_workload_options(bench, arguments->options);
  add_world_options(bench, arguments->options);
  bench.add_flag("--json", arguments->json, "Print JSON: an object, or an array of several runs'");
  bench.callback([arguments, &bench, &exit_status] {
    if (bench.get_subcommands().empty()) {
      exit_status = bench_store(*arguments);
    }
  });
}

}  // namespace remora::cli
