// The real server after kill -9: from its start until a client has got an object.
#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "base/random.h"
#include "bench/measure.h"
#include "bench/store/served_objects.h"
#include "bench/store/store.h"

namespace remora::bench {
namespace {

constexpr std::uint64_t restarted_objects = 1'000'000;
constexpr double target_seconds = 2;
constexpr int restart_samples = 1000;

Status check_restarted(ServedObjects& served, std::uint64_t seed) {
  const Result<std::uint64_t> keys = served.told("keys");
  if (!keys.ok() || *keys != restarted_objects) {
    return keys.ok() ? Status(Code::damaged,
                              fmt::format("{} objects came back of {}", *keys, restarted_objects))
                     : keys.status();
  }
  Random random(seed);
  for (int i = 0; i < restart_samples; ++i) {
    REMORA_TRY(served.look(random.below(restarted_objects)));
  }
  return {};
}

}  // namespace

Status measure_restart(const StoreBenchOptions& options) {
  ServedObjects served(options.folder, options.folder + "/restart.pool");
  REMORA_TRY(served.start());
  REMORA_TRY(served.fill(restarted_objects));
  std::vector<double> seconds;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    served.kill();
    const std::uint64_t begin_ns = now_ns();
    REMORA_TRY(served.start());
    REMORA_TRY(served.look(round));
    seconds.push_back(static_cast<double>(now_ns() - begin_ns) / 1e9);
    REMORA_TRY(check_restarted(served, round + 1));
  }
  const Spread spread = spread_of(seconds);
  std::printf(
      "measured: restart after kill -9 with %llu objects of %zu B, until a client has got one: "
      "%.2f s (%.2f to %.2f); target %.0f s: %s\n",
      static_cast<unsigned long long>(restarted_objects), ServedObjects::value_bytes, spread.median,
      spread.low, spread.high, target_seconds, spread.median < target_seconds ? "met" : "missed");
  std::fflush(stdout);
  return {};
}

}  // namespace remora::bench
