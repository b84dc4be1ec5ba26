#include "bench/nic/ping_pong.h"

#include <atomic>
#include <vector>

#include "bench/nic/contender.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t samples = 41;
constexpr std::uint64_t round_trips_per_sample = 200;

struct Lines {
  alignas(cache_line_bytes) std::atomic<std::uint64_t> ping;
  alignas(2 * cache_line_bytes) std::atomic<std::uint64_t> pong;
};

}  // namespace

Result<std::unique_ptr<PingPong>> PingPong::start(int core) {
  REMORA_TRY_RESULT(memory, SharedMemory::create(page_bytes));
  touch(memory->bytes());
  Result<std::unique_ptr<Child>> child = Child::start(core, [&](const ChildContext& context) {
    REMORA_TRY(context.ready());
    auto& lines = memory->as<Lines>();
    while (!context.ending()) {
      lines.pong.store(lines.ping.load(std::memory_order_acquire), std::memory_order_release);
    }
    return Status();
  });
  REMORA_TRY(child.status());
  return std::unique_ptr<PingPong>(
      new PingPong(std::move(memory).value(), std::move(child).value()));
}

Status PingPong::run(std::uint64_t round_trips) {
  auto& lines = memory_.as<Lines>();
  Patience patience("the process on the other core");
  for (; round_trips > 0; --round_trips) {
    lines.ping.store(++sent_, std::memory_order_release);
    while (lines.pong.load(std::memory_order_acquire) != sent_) {
      REMORA_TRY(patience.spin());
    }
  }
  return Status();
}

Result<Spread> PingPong::round_trip_ns() {
  std::vector<double> each_ns;
  for (std::uint64_t sample = 0; sample <= samples; ++sample) {
    const std::uint64_t start_ns = now_ns();
    REMORA_TRY(run(round_trips_per_sample));
    if (sample > 0) {
      each_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                        static_cast<double>(round_trips_per_sample));
    }
  }
  return spread_of(std::move(each_ns));
}

}  // namespace remora::bench
