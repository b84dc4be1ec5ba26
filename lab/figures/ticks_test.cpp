#include "lab/figures/ticks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace remora::figures {
namespace {

std::vector<std::string> labels(const Ticks& ticks) {
  std::vector<std::string> labels;
  for (const Tick& tick : ticks.ticks) {
    if (!tick.label.empty()) {
      labels.push_back(tick.label);
    }
  }
  return labels;
}

TEST(LinearTicks, are_round_and_cover_the_data) {
  EXPECT_EQ(labels(linear_ticks(9.3, 5)),
            (std::vector<std::string>{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(labels(linear_ticks(1.2e6, 6)),
            (std::vector<std::string>{"0", "200k", "400k", "600k", "800k", "1M", "1.2M"}));
  for (const double highest : {1e-3, 0.37, 1.0, 7.0, 99.0, 101.0, 12345.0, 9.99e8}) {
    const Ticks ticks = linear_ticks(highest, 6);
    EXPECT_GE(ticks.high, highest);
    EXPECT_LE(ticks.high, highest * 1.5);
    EXPECT_GE(ticks.ticks.size(), 4U);
    EXPECT_LE(ticks.ticks.size(), 8U);
  }
}

TEST(LinearTicks, of_nothing_still_make_an_axis) {
  const Ticks ticks = linear_ticks(0, 5);
  EXPECT_EQ(ticks.high, 1);
}

TEST(LogTicks, are_powers_of_ten_with_marks_between) {
  const Ticks ticks = log10_ticks(3, 4000);
  EXPECT_EQ(ticks.low, 1);
  EXPECT_EQ(ticks.high, 10000);
  EXPECT_EQ(labels(ticks), (std::vector<std::string>{"1", "10", "100", "1k", "10k"}));
  EXPECT_EQ(ticks.ticks.size(), 4U * 9U + 1U);
}

TEST(LogTicks, name_two_and_five_where_there_is_one_power) {
  EXPECT_EQ(labels(log10_ticks(12, 80)), (std::vector<std::string>{"10", "20", "50", "100"}));
  EXPECT_EQ(labels(log10_ticks(10, 10)), (std::vector<std::string>{"10", "20", "50", "100"}));
}

TEST(ShortNumber, has_a_unit_of_a_thousand) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(1500), "1.5k");
  EXPECT_EQ(short_number(2e6), "2M");
  EXPECT_EQ(short_number(3e9), "3G");
}

}  // namespace
}  // namespace remora::figures
