#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "bench/measure.h"
#include "bench/resp/contender.h"
#include "bench/store/store.h"
#include "cli/store_bench/measured.h"

namespace remora::bench {
namespace {

// One comparison: what Redis keeps, what ours does, and how much faster ours is meant to be.
struct Match {
  const char* name;
  const char* command;  // of redis-benchmark
  Keeping keeping;
  bool on_disk;
  kv::Durability durability;
  double target;
  server::LocalFabric fabric = server::LocalFabric::mapped;
};

constexpr Match matches[] = {
    {"GET", "get", Keeping::none, false, kv::Durability::standard, 30},
    {"SET, nothing kept", "set", Keeping::none, false, kv::Durability::standard, 10},
    {"SET, kept soon", "set", Keeping::soon, true, kv::Durability::standard, 10},
    {"SET, kept before the answer", "set", Keeping::always, true, kv::Durability::persistent, 1},
};

// Both over IP on loopback.
constexpr Match network_matches[] = {
    {"GET, roce beside TCP", "get", Keeping::none, false, kv::Durability::standard, 1,
     server::LocalFabric::roce},
    {"SET, roce beside TCP", "set", Keeping::none, false, kv::Durability::standard, 1,
     server::LocalFabric::roce},
};

constexpr std::uint64_t memory_pool_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t records = 10'000;
// Operations that wait for the disk are fewer, and those that wait for nobody are more: a run of a
// tenth of a second would show how the processors wake up.
constexpr std::uint64_t persistent_share = 20;
constexpr std::uint64_t read_multiple = 10;

bool is_read(const Match& match) {
  return std::string_view(match.command) == "get";
}

std::uint64_t records_of(const Match& match) {
  return match.durability == kv::Durability::persistent ? records / persistent_share : records;
}

Result<double> run_ours(const Match& match, std::uint32_t value_bytes, std::uint32_t connections,
                        const StoreBenchOptions& options) {
  cli::MeasuredOptions run;
  run.fabric = match.fabric;
  run.durability = match.durability;
  run.as_product = true;
  run.pool_bytes = memory_pool_bytes;
  if (match.on_disk) {
    run.pool_path = options.folder + "/ours.pool";
  }
  const bool waits = match.durability == kv::Durability::persistent;
  const bool reads = is_read(match);
  run.plan.workload = workload::parse_workload(reads ? "c" : "update-only").value();
  // As redis-benchmark chooses.
  run.plan.workload.distribution.choice = workload::Choice::uniform;
  if (reads && match.fabric == server::LocalFabric::mapped) {
    // A GET needs nothing of the server: its processor is for clients too.
    run.processes = static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  }
  run.plan.values = workload::ValueSizes(value_bytes);
  run.plan.clients = connections;
  run.plan.records = records_of(match);
  run.plan.operations = waits   ? options.operations / persistent_share
                        : reads ? options.operations * read_multiple
                                : options.operations;
  run.plan.warm_up = run.plan.operations / 10;
  const Result<cli::MeasuredReport> report = cli::run_measured(run);
  if (!report.ok()) {
    return report.status();
  }
  REMORA_TRY(report->first_failure);
  return report->ops_per_s;
}

Status compare(const Match& match, std::uint32_t value_bytes, std::uint32_t connections,
               const StoreBenchOptions& options) {
  const std::string own = options.folder + "/redis";
  std::vector<double> theirs;
  std::vector<double> ours;
  std::vector<double> ratios;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    {
      // Each begins with nothing, as ours does: what the one before has kept would be loaded.
      std::filesystem::remove_all(own);
      std::filesystem::create_directories(own);
      Result<std::unique_ptr<Contender>> redis = Contender::redis(match.keeping, own);
      if (!redis.ok()) {
        return redis.status();
      }
      // A GET finds what a SET has left: as many keys as ours has, but for one in 20,000.
      if (is_read(match)) {
        const Result<Round> filled =
            (*redis)->run("set", 10 * records, connections, 16, value_bytes, records);
        if (!filled.ok()) {
          return filled.status();
        }
      }
      const std::uint64_t requests = match.keeping == Keeping::always
                                         ? options.redis_operations / 10
                                         : options.redis_operations;
      const Result<Round> result =
          (*redis)->run(match.command, requests, connections, 1, value_bytes, records_of(match));
      if (!result.ok()) {
        return result.status();
      }
      theirs.push_back(result->per_second);
    }
    const Result<double> rate = run_ours(match, value_bytes, connections, options);
    if (!rate.ok()) {
      return rate.status();
    }
    ours.push_back(*rate);
    ratios.push_back(ours.back() / theirs.back());
  }
  const Spread ratio = spread_of(ratios);
  std::printf(
      "%-28s %5u B %2u connections  redis %8.0f/s   remora %9.0f/s   %6.1fx (%.1f..%.1f)"
      "   target %.0fx: %s\n",
      match.name, value_bytes, connections, spread_of(theirs).median, spread_of(ours).median,
      ratio.median, ratio.low, ratio.high, match.target,
      ratio.median >= match.target ? "met" : "missed");
  std::fflush(stdout);
  return {};
}

Status compare_all(std::span<const Match> all, const StoreBenchOptions& options) {
  std::printf("measured: unpipelined, median of %u rounds side by side\n", options.rounds);
  for (const Match& match : all) {
    if (std::string_view(match.name).find(options.match) == std::string_view::npos) {
      continue;
    }
    for (const std::uint32_t value_bytes : {100u, 4096u}) {
      for (const std::uint32_t connections : {1u, 8u}) {
        REMORA_TRY(compare(match, value_bytes, connections, options));
      }
    }
  }
  return {};
}

}  // namespace

Status measure_beside_redis(const StoreBenchOptions& options) {
  return compare_all(matches, options);
}

Status measure_roce_beside_redis(const StoreBenchOptions& options) {
  return compare_all(network_matches, options);
}

}  // namespace remora::bench
