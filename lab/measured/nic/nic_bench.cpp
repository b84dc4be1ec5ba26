#include "lab/measured/nic/nic_bench.h"

#include <algorithm>
#include <memory>

#include "fabric/nic/wire/sim/profile.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "lab/measured/nic/initiator.h"
#include "lab/measured/nic/ring_target.h"
#include "lab/measured/nic/roce_target.h"
#include "lab/measured/nic/side.h"
#include "lab/measured/nic/verbs_peer.h"
#include "runtime/poll_loop.h"
#include "runtime/virtual_loop.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t target_bytes = 64 << 20;  // larger than the caches of a core
constexpr std::uint64_t most_initiator_bytes = 1 << 30;
constexpr std::uint64_t measured_ns = 1'000'000'000;
constexpr std::uint64_t simulated_operations = 20'000;
constexpr std::uint64_t trial_operations = 2'000;
constexpr std::uint64_t most_operations = 50'000'000;

std::uint64_t initiator_bytes(const NicBenchOptions& options) {
  const std::uint64_t stride = round_up(
      std::max(options.size_bytes, std::uint64_t{cache_line_bytes}), std::uint64_t{page_bytes});
  return stride * options.depth;
}

Status check(const NicBenchOptions& options) {
  const auto& known = nic_bench_operations();
  if (std::ranges::find(known, options.operation) == known.end()) {
    return Status(Code::invalid_argument, "unknown operation '" + options.operation +
                                              "'; choose one of " + list_of_operations());
  }
  if (options.size_bytes == 0 || options.size_bytes > target_bytes / 2) {
    return Status(Code::invalid_argument, "choose a size from 1 byte to 32 MiB");
  }
  if (options.depth == 0 || options.depth > 4096) {
    return Status(Code::invalid_argument, "choose a depth from 1 to 4096");
  }
  if (initiator_bytes(options) > most_initiator_bytes) {
    return Status(Code::invalid_argument,
                  "size times depth is more than 1 GiB of memory; choose a smaller one of the two");
  }
  if (works_on_a_word(options.operation) && options.size_bytes != word_bytes) {
    return Status(Code::invalid_argument,
                  options.operation + " works on 8 bytes; leave --size out, or say --size 8");
  }
  return Status();
}

NicBenchReport report_of(const NicBenchOptions& options, const Timing& timing, bool modelled) {
  NicBenchReport report;
  report.operations = timing.operations;
  report.ops_per_s = static_cast<double>(timing.operations) * 1e9 /
                     static_cast<double>(std::max<std::uint64_t>(timing.span_ns, 1));
  report.bytes_per_s = report.ops_per_s * static_cast<double>(options.size_bytes);
  report.p50_ns = timing.latency_ns.percentile(50);
  report.p99_ns = timing.latency_ns.percentile(99);
  report.p999_ns = timing.latency_ns.percentile(99.9);
  report.modelled = modelled;
  return report;
}

Result<NicBenchReport> run_sim(const NicBenchOptions& options) {
  REMORA_TRY_RESULT(nic, fabric::nic::sim::load_nic_profile(options.profile));
  REMORA_TRY_RESULT(memory, fabric::nic::sim::load_memory_profile(options.memory_profile));
  const std::uint64_t operations =
      options.operations == 0 ? simulated_operations : options.operations;
  VirtualLoop loop({.seed = options.seed, .max_events = 1'000'000'000});
  fabric::nic::sim::SimNetwork network(loop, *nic, *memory, Random(options.seed));
  fabric::nic::sim::SimWire& near = network.add_node();
  fabric::nic::sim::SimWire& far = network.add_node();
  auto target = Side::create(loop, far, target_bytes, options.depth,
                             fabric::nic::Keys::from_seed(options.seed));
  auto source = Side::create(loop, near, initiator_bytes(options), options.depth,
                             fabric::nic::Keys::from_seed(options.seed + 1));
  if (!target.ok() || !source.ok()) {
    return target.ok() ? source.status() : target.status();
  }
  REMORA_TRY((*target)->connect((*source)->introduction()));
  REMORA_TRY((*source)->connect((*target)->introduction()));
  Replenisher replenisher(loop, **target, options.size_bytes, options.depth);
  Initiator initiator(loop, **source, options);
  auto timing = std::make_unique<Timing>();
  REMORA_TRY(initiator.run(operations, *timing));
  return report_of(options, *timing, true);
}

// A trial run tells how many operations take about a second.
Result<NicBenchReport> measure(PollLoop& loop, Side& side, const NicBenchOptions& options) {
  Initiator initiator(loop, side, options);
  auto timing = std::make_unique<Timing>();
  std::uint64_t operations = options.operations;
  if (operations == 0) {
    REMORA_TRY(initiator.run(trial_operations, *timing));
    const std::uint64_t each_ns = std::max<std::uint64_t>(1, timing->span_ns / trial_operations);
    operations = std::clamp(measured_ns / each_ns, trial_operations, most_operations);
    *timing = Timing{};
  }
  REMORA_TRY(initiator.run(operations, *timing));
  NicBenchReport report = report_of(options, *timing, false);
  report.requests_short_cut = side.counters().requests_short_cut;
  report.requests_by_wire = side.counters().requests_by_wire;
  return report;
}

// An initiator that waits looks at its completions, and does nothing else.
class Busy final : public Poller {
 public:
  bool poll() override { return true; }
};

Result<NicBenchReport> run_verbs(const NicBenchOptions& options) {
  const VerbsBench bench = {.device = *fabric::verbs::parse_wire(options.wire),
                            .memory_bytes = target_bytes,
                            .size_bytes = options.size_bytes,
                            .depth = options.depth};
  REMORA_TRY_RESULT(peer, options.target.empty() ? VerbsPeer::start_target(bench)
                                                 : VerbsPeer::reach(options.target));
  REMORA_TRY_RESULT(side, (*peer)->introduce(bench.device, initiator_bytes(options), bench));
  PollLoop loop;
  Busy busy;
  loop.add_poller(busy);
  Result<NicBenchReport> report = measure(loop, **side, options);
  if (report.ok()) {
    report->remarks = remarks_on(**side);
  }
  return report;
}

Result<NicBenchReport> run_roce(const NicBenchOptions& options) {
  REMORA_TRY_RESULT(target, RoceTarget::start(target_bytes, options.depth,
                                              replenishing(options.size_bytes, options.depth)));
  PollLoop loop;
  REMORA_TRY_RESULT(side, (*target)->connect(loop, initiator_bytes(options), options.depth));
  return measure(loop, **side, options);
}

Result<NicBenchReport> run_host(const NicBenchOptions& options) {
  const bool mapped = options.wire == "mapped";
  REMORA_TRY_RESULT(target, RingTarget::start(mapped, target_bytes, options.depth,
                                              replenishing(options.size_bytes, options.depth)));
  PollLoop loop;
  RingClient client(loop, mapped);
  REMORA_TRY_RESULT(side,
                    client.connect((*target)->path(), initiator_bytes(options), options.depth));
  return measure(loop, **side, options);
}

}  // namespace

bool is_verbs(const std::string& wire) {
  return fabric::verbs::parse_wire(wire).has_value();
}

Status run_nic_target(const NicBenchOptions& options) {
  return serve_initiator(*fabric::verbs::parse_wire(options.wire), options.listen, target_bytes);
}

Result<NicBenchReport> run_nic_bench(const NicBenchOptions& options) {
  REMORA_TRY(check(options));
  if (options.wire == "sim") {
    return run_sim(options);
  }
  if (options.wire == "ring" || options.wire == "mapped") {
    return run_host(options);
  }
  if (options.wire == "roce") {
    return run_roce(options);
  }
  if (is_verbs(options.wire)) {
    return run_verbs(options);
  }
  return Status(Code::invalid_argument,
                "unknown wire '" + options.wire +
                    "'; choose ring, mapped, roce or verbs[:DEVICE] (measured) or sim (modelled)");
}

}  // namespace remora::lab
