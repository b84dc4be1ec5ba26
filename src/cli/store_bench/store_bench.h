// remora bench: what the operations of a store cost, measured here or modelled by hardware
// profiles.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/measured/measured.h"
#include "lab/run/modelled.h"

namespace remora::cli {

// As people type it. Those with an 's' may be comma lists; every combination is one run.
struct StoreBenchOptions {
  std::string engines = "efactory";
  std::string workloads = "a";
  std::string value_sizes = "100";
  std::string clients = "1";
  std::string fabric = "ring";
  std::string key_size = "24";
  std::string distribution;  // of the keys; empty: the workload's own
  std::uint64_t records = 10'000;
  std::uint64_t operations = 100'000;
  std::uint64_t warm_up = 10'000;
  std::uint32_t depth = 1;
  std::uint32_t processes = 0;
  std::uint64_t seed = 1;
  fabric::nic::sim::ProfileNames profile;
  std::vector<std::string> media = {"dram"};  // or "file" and a path
  std::string durability = "standard";
  std::string verify_reads = "auto";
  std::string pool_size;  // empty: by what is written
};

// One run of the combinations.
struct StoreBenchRun {
  std::string engine;
  workload::Plan plan;
  std::optional<workload::Distribution> distribution = {};  // instead of the workload's own
  std::uint32_t depth = 1;
  std::uint32_t processes = 0;
  std::string fabric;
  fabric::nic::sim::ProfileNames profile;
  kv::Durability durability = kv::Durability::standard;
  kv::VerifyReads verify_reads = kv::VerifyReads::automatic;
  std::string media;
  std::string pool_path;
  std::uint64_t pool_bytes = 0;
};

// A run and what it gave: a modelled report, or a measured one.
struct StoreBenchResult {
  bool modelled = false;
  store_bench::ModelledReport model;
  lab::MeasuredReport measured;

  const store_bench::Report& report() const {
    return modelled ? static_cast<const store_bench::Report&>(model) : measured;
  }
};

// All runs, each of them checked: invalid_argument with what would be right.
Result<std::vector<StoreBenchRun>> plan_runs(const StoreBenchOptions& options);

using OnProgress = std::function<void(std::uint64_t performed, std::uint64_t planned)>;
Result<StoreBenchResult> run_store_bench(const StoreBenchRun& run, const OnProgress& progress);

}  // namespace remora::cli
