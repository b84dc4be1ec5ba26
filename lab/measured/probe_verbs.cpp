#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "lab/measured/measured_writes.h"
#include "lab/measured/message_echo.h"
#include "lab/measured/nic/initiator.h"
#include "lab/measured/nic/ring_target.h"
#include "lab/measured/probes.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t probe_bytes = 64 << 20;  // larger than the caches of a core
// What is read was most often there before, as the values of some thousand keys; what is written
// goes where nothing was lately, as to a log.
constexpr std::uint64_t read_bytes = 4 << 20;
// A go is of as many operations as take about so long, since two sides on one processor wait for
// its slices.
constexpr double go_ns = 5e6;
constexpr int goes = 15;
constexpr std::uint64_t least_probed = 50;
constexpr std::uint64_t most_probed = 2'000;
// Turns without work before a side sleeps whose processor the other one needs, as clients have it.
constexpr std::uint32_t probe_spin_turns = 20;

std::uint64_t operations_that_fit(double each_ns) {
  return std::clamp(static_cast<std::uint64_t>(go_ns / std::max(each_ns, 1.0)), least_probed,
                    most_probed);
}

// Takes its seat when it is made, in the target's process.
struct SeatedTarget {
  SeatedTarget(Runtime& runtime, Side& side) : seat(0), echo(serve_echo(runtime, side)) {}
  Seat seat;
  std::shared_ptr<void> echo;
};

class VerbProbe {
 public:
  VerbProbe(PollLoop& loop, Side& side) : loop_(loop), side_(side) {}

  // The least of several goes' medians, since nothing makes a go faster but what others do makes
  // some slower.
  Result<double> latency_ns(const char* operation, std::uint64_t size_bytes) {
    return least(operation, size_bytes, 1, [](const Timing& timing) {
      return static_cast<double>(timing.latency_ns.percentile(50));
    });
  }
  // What each of several in flight takes, in the same way.
  Result<double> each_ns(const char* operation, std::uint64_t size_bytes) {
    return least(operation, size_bytes, deep, [](const Timing& timing) {
      return static_cast<double>(timing.span_ns) / static_cast<double>(timing.operations);
    });
  }

  // How long the calls take that post a small WRITE and that find it completed.
  Status calls(double& post_ns, double& poll_ns, std::uint64_t count) {
    std::vector<double> posts;
    std::vector<double> polls;
    fabric::Sge piece = side_.memory().piece(0, small_bytes);
    fabric::SendWork work;
    work.opcode = fabric::Opcode::write;
    work.pieces = std::span(&piece, 1);
    work.remote = side_.peer().memory;
    work.signalled = true;
    constexpr std::uint64_t looks = 1'000;
    const std::uint64_t first_ns = loop_.now_ns();
    for (std::uint64_t i = 0; i < looks; ++i) {
      (void)loop_.now_ns();
    }
    const double clock_takes_ns =
        static_cast<double>(loop_.now_ns() - first_ns) / static_cast<double>(looks);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t begin_ns = loop_.now_ns();
      REMORA_TRY(side_.queue_pair().post_send(std::span(&work, 1)));
      posts.push_back(static_cast<double>(loop_.now_ns() - begin_ns));
      std::array<fabric::WorkCompletion, 4> completions;
      for (std::size_t found = 0; found == 0;) {
        begin_ns = loop_.now_ns();
        found = side_.completions().poll(completions);
        if (found != 0) {
          polls.push_back(static_cast<double>(loop_.now_ns() - begin_ns));
        } else {
          (void)loop_.turn();
        }
      }
    }
    const auto median_of = [&](std::vector<double>& values) {
      std::ranges::nth_element(values,
                               values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
      return std::max(1.0, values[values.size() / 2] - clock_takes_ns);
    };
    post_ns = median_of(posts);
    poll_ns = median_of(polls);
    return {};
  }

 private:
  template <typename Read>
  Result<double> least(const char* operation, std::uint64_t size_bytes, std::uint64_t depth,
                       Read read) {
    Initiator initiator(loop_, side_,
                        {.operation = operation,
                         .size_bytes = size_bytes,
                         .depth = depth,
                         .walk_bytes = std::string_view(operation) == "read" ? read_bytes : 0});
    auto timing = std::make_unique<Timing>();
    REMORA_TRY(initiator.run(least_probed, *timing));
    const std::uint64_t count = operations_that_fit(static_cast<double>(timing->span_ns) /
                                                    static_cast<double>(least_probed));
    double least_ns = HUGE_VAL;
    for (int go = 0; go < goes; ++go) {
      *timing = Timing();
      REMORA_TRY(initiator.run(count, *timing));
      least_ns = std::min(least_ns, read(*timing));
    }
    return least_ns;
  }

  PollLoop& loop_;
  Side& side_;
};

}  // namespace

Result<Verbs> measure_verbs(const CalibrationOptions& options) {
  const bool mapped = options.wire == link::WireKind::mapped;
  REMORA_TRY_RESULT(target,
                    RingTarget::start(mapped, probe_bytes, deep, [](Runtime& runtime, Side& side) {
                      return std::make_shared<SeatedTarget>(runtime, side);
                    }));
  PollLoop loop({.spin_turns = options.placement == Placement::apart ? limits::spin_turns
                                                                     : probe_spin_turns});
  RingClient client(loop, mapped);
  REMORA_TRY_RESULT(side, client.connect((*target)->path(), deep * large_bytes, deep));
  Verbs verbs;
  {
    const Seat seat(initiating_seat(options.placement));
    VerbProbe probe(loop, **side);
    for (const auto& [into, operation, size_bytes] :
         {std::tuple(&Verbs::write_small_ns, "write", small_bytes),
          std::tuple(&Verbs::write_large_ns, "write", large_bytes),
          std::tuple(&Verbs::read_small_ns, "read", small_bytes),
          std::tuple(&Verbs::read_large_ns, "read", large_bytes)}) {
      REMORA_TRY_RESULT(latency_ns, probe.latency_ns(operation, size_bytes));
      verbs.*into = *latency_ns;
    }
    REMORA_TRY_RESULT(each_ns, probe.each_ns("write", small_bytes));
    verbs.write_each_ns = *each_ns;
    REMORA_TRY(
        probe.calls(verbs.post_ns, verbs.poll_ns, operations_that_fit(verbs.write_small_ns)));
    REMORA_TRY_RESULT(
        echo_ns, measure_echo(loop, **side, operations_that_fit(2 * verbs.write_small_ns), goes));
    verbs.echo_ns = *echo_ns;
    const fabric::DeviceCounters counters = (*side)->counters();
    verbs.by_initiator = counters.requests_short_cut > counters.requests_by_wire;
  }
  side->reset();
  verbs.flow_ns = HUGE_VAL;
  for (int go = 0; go < 5; ++go) {
    REMORA_TRY_RESULT(writes,
                      run_measured_writes({.method = store_bench::WriteMethod::ca,
                                           .size_bytes = small_bytes,
                                           .operations = operations_that_fit(verbs.write_small_ns),
                                           .warm_up = least_probed,
                                           .fabric = options.wire,
                                           .placement = options.placement}));
    verbs.flow_ns = std::min(verbs.flow_ns, static_cast<double>(writes->all.p50_ns));
  }
  return verbs;
}

}  // namespace remora::lab
