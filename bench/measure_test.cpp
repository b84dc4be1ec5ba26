#include "bench/measure.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace remora::bench {
namespace {

// Time that passes only where a side says so.
class Measure : public testing::Test {
 protected:
  Side takes(char name, std::uint64_t cost_ns) {
    return [=, this](std::uint64_t iterations) {
      order_ += name;
      iterations_[name == 'A' ? 0 : 1].push_back(iterations);
      now_ns_ += cost_ns * iterations;
    };
  }
  std::vector<std::vector<double>> measure(std::vector<Side> sides, const Plan& plan) {
    return interleave(sides, plan, [this] { return now_ns_; });
  }

  std::uint64_t now_ns_ = 0;
  std::string order_;
  std::vector<std::uint64_t> iterations_[2];
};

TEST_F(Measure, takes_turns) {
  measure({takes('A', 10), takes('B', 20)}, Plan{3, 1000, Work::same});
  EXPECT_TRUE(order_.ends_with("ABABABAB")) << order_;
}

TEST_F(Measure, gives_the_time_of_one_iteration_for_each_round) {
  const auto series = measure({takes('A', 10), takes('B', 20)}, Plan{3, 1000, Work::same});
  EXPECT_EQ(series, (std::vector<std::vector<double>>{{10, 10, 10}, {20, 20, 20}}));
}

TEST_F(Measure, gives_all_sides_the_work_that_fills_a_slice_of_the_slowest) {
  measure({takes('A', 10), takes('B', 20)}, Plan{3, 1000, Work::same});
  EXPECT_EQ(iterations_[0], iterations_[1]);
  EXPECT_GE(iterations_[0].back() * 20, 500u);
  EXPECT_LE(iterations_[0].back() * 20, 1000u);
}

TEST_F(Measure, lets_each_side_fill_its_own_slice) {
  measure({takes('A', 1), takes('B', 250)}, Plan{3, 1000, Work::own});
  EXPECT_GE(iterations_[0].back(), 500u);
  EXPECT_LE(iterations_[1].back(), 4u);
}

TEST_F(Measure, runs_a_side_that_is_longer_than_a_slice_once_a_round) {
  measure({takes('A', 5000)}, Plan{4, 1000, Work::same});
  EXPECT_EQ(iterations_[0], (std::vector<std::uint64_t>{1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_F(Measure, finds_the_work_for_a_slice_though_a_run_is_interrupted) {
  const Side steady = takes('A', 10);
  bool interrupted = false;
  const Side side = [&](std::uint64_t iterations) {
    now_ns_ += std::exchange(interrupted, true) ? 0u : 5000u;
    steady(iterations);
  };
  measure({side}, Plan{1, 1000, Work::same});
  EXPECT_GE(iterations_[0].back(), 50u);
}

TEST_F(Measure, ends_for_a_side_that_takes_no_time) {
  const auto series = measure({takes('A', 0)}, Plan{2, 1000, Work::same});
  EXPECT_EQ(series[0], (std::vector<double>{0, 0}));
}

std::vector<double> numbers_down_from(int highest) {
  std::vector<double> samples;
  for (int i = highest; i > 0; --i) {
    samples.push_back(i);
  }
  return samples;
}

TEST(Spread, is_the_middle_and_the_outer_tenths) {
  const Spread spread = spread_of(numbers_down_from(100));
  EXPECT_EQ(spread.low, 10);
  EXPECT_EQ(spread.median, 50);
  EXPECT_EQ(spread.high, 90);
}

TEST(MedianInterval, has_the_ranks_of_the_binomial_table) {
  const Interval interval = median_interval(numbers_down_from(100));
  EXPECT_EQ(interval.low, 40);
  EXPECT_EQ(interval.high, 61);
}

TEST(MedianInterval, of_a_few_samples_is_their_range) {
  const Interval interval = median_interval(numbers_down_from(3));
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 3);
}

TEST(Spread, of_one_sample_is_that_sample) {
  const Spread spread = spread_of({7});
  EXPECT_EQ(spread.low, 7);
  EXPECT_EQ(spread.median, 7);
  EXPECT_EQ(spread.high, 7);
}

TEST(Ratios, compare_round_by_round) {
  EXPECT_EQ(ratios(std::vector<double>{10, 30}, std::vector<double>{20, 10}),
            (std::vector<double>{0.5, 3}));
}

}  // namespace
}  // namespace remora::bench
