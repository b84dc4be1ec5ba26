#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"

namespace remora {
namespace {

constexpr double percents[] = {0, 0.001, 1, 10, 25, 50, 75, 90, 99, 99.9, 99.99, 99.9999, 100};

// What percentile() may answer for values below 2^63: no less than the value at the rank, and less
// than 1/64 more.
void expect_percentiles_of(const Histogram& histogram, std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  for (double p : percents) {
    const double rank = std::ceil(p * static_cast<double>(values.size()) / 100 - 1e-7);
    const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    const std::uint64_t exact = values[index];
    const std::uint64_t told = histogram.percentile(p);
    EXPECT_GE(told, exact) << "p " << p;
    EXPECT_LE(told - exact, exact / 64) << "p " << p << " exact " << exact;
    EXPECT_LE(told, values.back()) << "p " << p;
  }
}

TEST(Histogram, is_all_zero_when_empty) {
  Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.min(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
  EXPECT_EQ(histogram.mean(), 0.0);
  EXPECT_EQ(histogram.percentile(50), 0u);
}

TEST(Histogram, is_exact_below_128) {
  Histogram histogram;
  for (std::uint64_t value = 0; value < 128; ++value) {
    histogram.record(value);
  }
  EXPECT_EQ(histogram.percentile(50), 63u);
  EXPECT_EQ(histogram.percentile(0), 0u);
  EXPECT_EQ(histogram.percentile(100), 127u);
  EXPECT_DOUBLE_EQ(histogram.mean(), 63.5);
}

TEST(Histogram, uses_the_nearest_rank_without_rounding_up) {
  Histogram histogram;
  for (std::uint64_t i = 0; i < 999; ++i) {
    histogram.record(1);
  }
  histogram.record(100);
  EXPECT_EQ(histogram.percentile(99.9), 1u);
  EXPECT_EQ(histogram.percentile(99.91), 100u);
}

TEST(Histogram, agrees_with_sorted_values_of_every_magnitude) {
  Random random(1);
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(random.next() >> random.between(1, 63));
    histogram.record(values.back());
  }
  expect_percentiles_of(histogram, values);
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.min(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(histogram.max(), *std::max_element(values.begin(), values.end()));
}

TEST(Histogram, agrees_with_sorted_latencies) {
  Random random(2);
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (int i = 0; i < 12'345; ++i) {
    values.push_back(2'000 + random.below(3'000) + (random.chance(1, 500) ? 1'000'000 : 0));
    histogram.record(values.back());
  }
  expect_percentiles_of(histogram, values);
}

// Every edge of a bucket is a power of two plus a multiple of 1/64 of it.
TEST(Histogram, keeps_its_error_at_every_power_of_two) {
  for (unsigned bit = 0; bit <= 63; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (std::uint64_t value : {power - 1, power, power + 1}) {
      Histogram histogram;
      histogram.record(value);
      histogram.record(~std::uint64_t{0});
      const std::uint64_t told = histogram.percentile(50);
      EXPECT_GE(told, value);
      EXPECT_LE(told - value, value / 64);
    }
  }
}

TEST(Histogram, takes_the_largest_values_without_overflow) {
  Histogram histogram;
  const std::uint64_t large = std::uint64_t{1} << 63;
  for (int i = 0; i < 4; ++i) {
    histogram.record(large);
  }
  EXPECT_EQ(histogram.max(), large);
  EXPECT_EQ(histogram.percentile(50), large);
  EXPECT_DOUBLE_EQ(histogram.mean(), 0x1p63);
}

TEST(Histogram, merging_equals_recording_in_one) {
  Random random(3);
  Histogram both;
  Histogram parts[2];
  for (int i = 0; i < 1'000; ++i) {
    const std::uint64_t value = random.next() >> random.below(64);
    both.record(value);
    parts[i % 2].record(value);
  }
  parts[0].merge(parts[1]);
  EXPECT_EQ(parts[0].count(), both.count());
  EXPECT_EQ(parts[0].min(), both.min());
  EXPECT_EQ(parts[0].max(), both.max());
  EXPECT_EQ(parts[0].mean(), both.mean());
  for (double p : percents) {
    EXPECT_EQ(parts[0].percentile(p), both.percentile(p));
  }
}

TEST(Histogram, merging_an_empty_one_changes_nothing) {
  Histogram histogram;
  histogram.record(7);
  histogram.merge(Histogram());
  EXPECT_EQ(histogram.min(), 7u);
  EXPECT_EQ(histogram.max(), 7u);
  EXPECT_EQ(histogram.count(), 1u);
}

TEST(Histogram, tells_what_came_since_a_copy) {
  Histogram all;
  all.record(5, 3);
  all.record(1'000'000);
  const Histogram earlier = all;
  EXPECT_EQ(all.since(earlier).count(), 0u);
  EXPECT_EQ(all.since(earlier).max(), 0u);
  all.record(7);
  all.record(100, 2);
  const Histogram later = all.since(earlier);
  EXPECT_EQ(later.count(), 3u);
  EXPECT_EQ(later.min(), 7u);
  EXPECT_EQ(later.max(), 100u);
  EXPECT_EQ(later.percentile(50), 100u);
  EXPECT_DOUBLE_EQ(later.mean(), 69.0);
}

TEST(Histogram, counts_what_is_not_above_a_bound) {
  Histogram histogram;
  EXPECT_EQ(histogram.up_to(~std::uint64_t{0}), 0u);
  for (const std::uint64_t value : {0ull, 5ull, 1023ull, 1024ull, 1'000'000ull}) {
    histogram.record(value);
  }
  EXPECT_EQ(histogram.up_to(0), 1u);
  EXPECT_EQ(histogram.up_to(5), 2u);
  EXPECT_EQ(histogram.up_to(1023), 3u);
  EXPECT_EQ(histogram.up_to(2047), 4u);
  EXPECT_EQ(histogram.up_to((1u << 20) - 1), 5u);
  EXPECT_EQ(histogram.up_to(~std::uint64_t{0}), 5u);
}

TEST(Histogram, clearing_forgets_all) {
  Histogram histogram;
  histogram.record(5);
  histogram.clear();
  histogram.record(9);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.min(), 9u);
  EXPECT_EQ(histogram.percentile(0), 9u);
}

TEST(HistogramDeathTest, a_percentile_above_100_is_a_bug) {
  Histogram histogram;
  EXPECT_DEATH((void)histogram.percentile(100.1), "between 0 and 100");
}

}  // namespace
}  // namespace remora
