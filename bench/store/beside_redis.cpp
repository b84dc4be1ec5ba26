#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "bench/measure.h"
#include "bench/resp/contender.h"
#include "bench/store/bare_put.h"
#include "bench/store/store.h"
#include "lab/measured/measured.h"

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
  link::WireKind fabric = link::WireKind::mapped;
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
     link::WireKind::roce},
    {"SET, roce beside TCP", "set", Keeping::none, false, kv::Durability::standard, 1,
     link::WireKind::roce},
};

constexpr std::uint64_t memory_pool_bytes = std::uint64_t{256} << 20;
constexpr std::uint64_t records = 10'000;
// Operations that wait for the disk are fewer, and those that wait for nobody are more: a run of a
// tenth of a second would show how the processors wake up.
constexpr std::uint64_t persistent_share = 20;
constexpr std::uint64_t read_multiple = 10;
constexpr std::uint64_t bare_span_ns = 500'000'000;
constexpr std::uint64_t bare_puts_at_once = 20'000;  // between two looks at the clock

bool is_read(const Match& match) {
  return std::string_view(match.command) == "get";
}

// Those that bring a value from memory to memory, and no further.
bool has_bare_limit(const Match& match) {
  return !is_read(match) && !match.on_disk && match.fabric == link::WireKind::mapped;
}

std::uint64_t records_of(const Match& match) {
  return match.durability == kv::Durability::persistent ? records / persistent_share : records;
}

Result<double> run_ours(const Match& match, std::uint32_t value_bytes, std::uint32_t connections,
                        const StoreBenchOptions& options) {
  lab::MeasuredOptions run;
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
  if (reads && match.fabric == link::WireKind::mapped) {
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
  REMORA_TRY_RESULT(report, lab::run_measured(run));
  REMORA_TRY(report->first_failure);
  return report->ops_per_s;
}

Result<double> run_redis(const Match& match, std::uint32_t value_bytes, std::uint32_t connections,
                         const StoreBenchOptions& options) {
  const std::string own = options.folder + "/redis";
  // Each begins with nothing, as ours does: what the one before has kept would be loaded.
  std::filesystem::remove_all(own);
  std::filesystem::create_directories(own);
  REMORA_TRY_RESULT(redis, Contender::redis(match.keeping, own));
  // A GET finds what a SET has left: as many keys as ours has, but for one in 20,000.
  if (is_read(match)) {
    REMORA_TRY_RESULT(filled,
                      (*redis)->run("set", 10 * records, connections, 16, value_bytes, records));
  }
  const std::uint64_t requests =
      match.keeping == Keeping::always ? options.redis_operations / 10 : options.redis_operations;
  REMORA_TRY_RESULT(result, (*redis)->run(match.command, requests, connections, 1, value_bytes,
                                          records_of(match)));
  return result->per_second;
}

// Puts for that long, and tells how many there were in a second.
double bare_rate(BarePut& bare, std::uint64_t span_ns) {
  const std::uint64_t before = bare.arrived();
  const std::uint64_t begin_ns = now_ns();
  std::uint64_t taken_ns = 0;
  for (; taken_ns < span_ns; taken_ns = now_ns() - begin_ns) {
    bare.run(bare_puts_at_once);
  }
  return static_cast<double>(bare.arrived() - before) * 1e9 / static_cast<double>(taken_ns);
}

Result<double> run_bare(std::uint32_t value_bytes, std::uint32_t connections) {
  REMORA_TRY_RESULT(bare, BarePut::start({.value_bytes = value_bytes, .connections = connections}));
  (void)bare_rate(**bare, bare_span_ns / 10);
  const double rate = bare_rate(**bare, bare_span_ns);
  if ((*bare)->mismatches() != 0) {
    return Status(Code::damaged, "the bare loop found other values than it had put");
  }
  return rate;
}

// One sample a round of each.
struct Rates {
  std::vector<double> redis = {};
  std::vector<double> ours = {};
  std::vector<double> bare = {};  // empty where there is no such limit
};

Status measure_round(const Match& match, std::uint32_t value_bytes, std::uint32_t connections,
                     const StoreBenchOptions& options, Rates& rates) {
  REMORA_TRY_RESULT(redis, run_redis(match, value_bytes, connections, options));
  rates.redis.push_back(*redis);
  REMORA_TRY_RESULT(ours, run_ours(match, value_bytes, connections, options));
  rates.ours.push_back(*ours);
  if (has_bare_limit(match)) {
    REMORA_TRY_RESULT(bare, run_bare(value_bytes, connections));
    rates.bare.push_back(*bare);
  }
  return {};
}

void print_bare(const Rates& rates) {
  const Spread beside_redis = spread_of(ratios(rates.bare, rates.redis));
  const Spread reached = spread_of(ratios(rates.ours, rates.bare));
  std::printf(
      "          limit: a bare loop of two threads %9.0f/s   %6.1fx (%.1f..%.1f) redis"
      "   remora is %.2f (%.2f..%.2f) of it\n",
      spread_of(rates.bare).median, beside_redis.median, beside_redis.low, beside_redis.high,
      reached.median, reached.low, reached.high);
}

Status compare(const Match& match, std::uint32_t value_bytes, std::uint32_t connections,
               const StoreBenchOptions& options) {
  Rates rates;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    REMORA_TRY(measure_round(match, value_bytes, connections, options, rates));
  }
  const Spread ratio = spread_of(ratios(rates.ours, rates.redis));
  std::printf(
      "%-28s %5u B %2u connections  redis %8.0f/s   remora %9.0f/s   %6.1fx (%.1f..%.1f)"
      "   target %.0fx: %s\n",
      match.name, value_bytes, connections, spread_of(rates.redis).median,
      spread_of(rates.ours).median, ratio.median, ratio.low, ratio.high, match.target,
      ratio.median >= match.target ? "met" : "missed");
  if (!rates.bare.empty()) {
    print_bare(rates);
  }
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
