#include "bench/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/check.h"

namespace remora::bench {
namespace {

// A side that takes no time at all would be given more and more work; this is where that ends.
constexpr std::uint64_t iterations_max = std::uint64_t{1} << 30;

// The sample of that rank, which counts from 1, or the nearest that there is.
double at_rank(const std::vector<double>& sorted, double rank) {
  return sorted[static_cast<std::size_t>(
                    std::clamp(rank, 1.0, static_cast<double>(sorted.size()))) -
                1];
}

double nearest_rank(const std::vector<double>& sorted, double percent) {
  return at_rank(sorted, std::ceil(percent / 100 * static_cast<double>(sorted.size())));
}

std::uint64_t elapsed_ns(const Side& side, std::uint64_t iterations, const Clock& clock) {
  const std::uint64_t start_ns = clock();
  side(iterations);
  return clock() - start_ns;
}

// The quickest of a few runs: one that was interrupted would pass for a full slice.
std::uint64_t undisturbed_ns(const Side& side, std::uint64_t iterations, const Clock& clock) {
  std::uint64_t quickest_ns = elapsed_ns(side, iterations, clock);
  for (int again = 0; again < 2; ++again) {
    quickest_ns = std::min(quickest_ns, elapsed_ns(side, iterations, clock));
  }
  return quickest_ns;
}

// How many iterations let the slowest of these sides fill a slice. All of them run equally often
// while it is found.
std::uint64_t calibrate(std::span<const Side> sides, std::uint64_t slice_ns, const Clock& clock) {
  std::uint64_t iterations = 1;
  for (;;) {
    std::uint64_t slowest_ns = 0;
    for (const Side& side : sides) {
      slowest_ns = std::max(slowest_ns, undisturbed_ns(side, iterations, clock));
    }
    if (slowest_ns >= slice_ns / 2 || iterations >= iterations_max) {
      const double scale = static_cast<double>(slice_ns) /
                           static_cast<double>(std::max<std::uint64_t>(slowest_ns, 1));
      const double wanted = static_cast<double>(iterations) * std::min(scale, 1.0);
      return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
    }
    iterations *= 2;
  }
}

std::vector<std::uint64_t> calibrate_all(std::span<const Side> sides, const Plan& plan,
                                         const Clock& clock) {
  if (plan.work == Work::same) {
    return std::vector(sides.size(), calibrate(sides, plan.slice_ns, clock));
  }
  std::vector<std::uint64_t> iterations;
  for (const Side& side : sides) {
    iterations.push_back(calibrate({&side, 1}, plan.slice_ns, clock));
  }
  return iterations;
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  REMORA_CHECK(!samples.empty(), "a spread needs a sample");
  std::ranges::sort(samples);
  return {nearest_rank(samples, 10), nearest_rank(samples, 50), nearest_rank(samples, 90)};
}

// How many of n samples lie below the true median is binomial; these ranks hold its middle 95 %.
Interval median_interval(std::vector<double> samples) {
  REMORA_CHECK(!samples.empty(), "an interval needs a sample");
  std::ranges::sort(samples);
  const auto count = static_cast<double>(samples.size());
  const double reach = 1.96 * std::sqrt(count);
  return {at_rank(samples, std::floor((count - reach) / 2)),
          at_rank(samples, std::ceil((count + reach) / 2) + 1)};
}

std::uint64_t now_ns() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count());
}

std::vector<std::vector<double>> interleave(std::span<const Side> sides, const Plan& plan,
                                            const Clock& clock) {
  const std::vector<std::uint64_t> iterations = calibrate_all(sides, plan, clock);
  std::vector<std::vector<double>> series(sides.size());
  for (std::uint64_t round = 0; round <= plan.rounds; ++round) {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const auto slice_ns = static_cast<double>(elapsed_ns(sides[i], iterations[i], clock));
      if (round > 0) {
        series[i].push_back(slice_ns / static_cast<double>(iterations[i]));
      }
    }
  }
  return series;
}

std::vector<double> ratios(std::span<const double> a, std::span<const double> b) {
  REMORA_CHECK(a.size() == b.size(), "rounds are compared one by one");
  std::vector<double> result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.push_back(a[i] / b[i]);
  }
  return result;
}

}  // namespace remora::bench
