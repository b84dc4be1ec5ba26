#include "lab/run/steady.h"

#include <algorithm>
#include <cmath>

namespace remora::store_bench {
namespace {

constexpr double most_change = 0.05;
constexpr int windows_alike = 3;
constexpr std::uint64_t operations_each = 64;
constexpr std::uint64_t least_window = 256;
constexpr double littles_tolerance = 0.02;

}  // namespace

std::uint64_t window_of(const SteadyRule& rule, std::uint64_t in_flight) {
  return rule.window != 0 ? rule.window : std::max(least_window, operations_each * in_flight);
}

bool Steady::ended(std::uint64_t operations, std::uint64_t span_ns, std::uint64_t backlog) {
  const double count = static_cast<double>(operations);
  const double rate = span_ns == 0 ? 0 : count / static_cast<double>(span_ns);
  const bool rate_stands = std::abs(rate - rate_) <= most_change * rate;
  const auto [less, more] = std::minmax(backlog, backlog_);
  const bool backlog_stands = static_cast<double>(more - less) <= most_change * count;
  alike_ = rate_ != 0 && rate_stands && backlog_stands ? alike_ + 1 : 0;
  rate_ = rate;
  backlog_ = backlog;
  return alike_ >= windows_alike;
}

bool keeps_littles_law(const ClosedLoop& loop) {
  const double spent_ns =
      loop.ended_ns - static_cast<double>(loop.before_ns) + static_cast<double>(loop.after_ns);
  const double expected_ns =
      static_cast<double>(loop.in_flight) * static_cast<double>(loop.span_ns);
  return std::abs(spent_ns - expected_ns) <= littles_tolerance * expected_ns;
}

}  // namespace remora::store_bench
