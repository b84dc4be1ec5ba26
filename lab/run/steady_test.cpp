#include "lab/run/steady.h"

#include <gtest/gtest.h>

#include <functional>

namespace remora::store_bench {
namespace {

// In how many windows a run is steady whose rate and backlog these are; 0 if it never is.
using ByWindow = std::function<std::uint64_t(std::uint64_t)>;
std::uint64_t windows_until_steady(const ByWindow& span_ns, const ByWindow& backlog) {
  Steady steady;
  for (std::uint64_t window = 1; window <= 100; ++window) {
    if (steady.ended(1000, span_ns(window), backlog(window))) {
      return window;
    }
  }
  return 0;
}

TEST(Steady, needs_some_windows_that_are_alike) {
  EXPECT_EQ(
      windows_until_steady([](std::uint64_t) { return 1'000; }, [](std::uint64_t) { return 7; }),
      4u);
}

TEST(Steady, waits_until_the_rate_stands_still) {
  const auto swings = [](std::uint64_t window) {
    return window >= 20 || window % 2 == 0 ? 3000 : 2000;
  };
  EXPECT_EQ(windows_until_steady(swings, [](std::uint64_t) { return 0; }), 23u);
}

TEST(Steady, waits_until_the_backlog_stands_still) {
  const auto grows = [](std::uint64_t window) {
    return window < 10 ? 100 * window : std::uint64_t{1000};
  };
  EXPECT_EQ(windows_until_steady([](std::uint64_t) { return 1000; }, grows), 13u);
}

TEST(Steady, a_burst_that_only_piles_up_work_is_never_steady) {
  EXPECT_EQ(windows_until_steady([](std::uint64_t) { return 1000; },
                                 [](std::uint64_t window) { return 60 * window; }),
            0u);
}

TEST(Steady, a_window_has_some_operations_of_each_that_is_in_flight) {
  EXPECT_EQ(window_of({}, 1), 256u);
  EXPECT_EQ(window_of({}, 16), 1024u);
  EXPECT_EQ(window_of({.window = 5}, 16), 5u);
}

TEST(LittlesLaw, holds_within_two_percent) {
  ClosedLoop loop{.in_flight = 8, .span_ns = 1000, .ended_ns = 8000};
  EXPECT_TRUE(keeps_littles_law(loop));
  loop.ended_ns = 8150;
  EXPECT_TRUE(keeps_littles_law(loop));
  loop.ended_ns = 8170;
  EXPECT_FALSE(keeps_littles_law(loop));
  loop.ended_ns = 7830;
  EXPECT_FALSE(keeps_littles_law(loop));
}

TEST(LittlesLaw, counts_of_the_first_and_the_last_what_lies_within) {
  ClosedLoop loop{.in_flight = 1, .span_ns = 1000, .ended_ns = 1300, .before_ns = 500};
  EXPECT_FALSE(keeps_littles_law(loop));
  loop.after_ns = 200;
  EXPECT_TRUE(keeps_littles_law(loop));
}

}  // namespace
}  // namespace remora::store_bench
