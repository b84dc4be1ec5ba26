#include "cli/product/quantity.h"

#include <gtest/gtest.h>

#include <array>

namespace remora::cli {
namespace {

TEST(Quantity, has_the_units_in_which_people_think) {
  EXPECT_EQ(in_units(Unit::count, 0), "0");
  EXPECT_EQ(in_units(Unit::count, 999), "999");
  EXPECT_EQ(in_units(Unit::count, 1000), "1,000");
  EXPECT_EQ(in_units(Unit::count, 12'345'678), "12,345,678");
  EXPECT_EQ(in_units(Unit::count, 1'234'567'890), "1.23 G");
  EXPECT_EQ(in_units(Unit::bytes, 1536), "1.5 KiB");
  EXPECT_EQ(in_units(Unit::nanoseconds, 0), "0");
  EXPECT_EQ(in_units(Unit::nanoseconds, 999), "999 ns");
  EXPECT_EQ(in_units(Unit::nanoseconds, 2'140'000), "2.14 ms");
  EXPECT_EQ(in_units(Unit::seconds, 59), "59 s");
  EXPECT_EQ(in_units(Unit::seconds, 3'600 * 3 + 60 * 20), "3 h 20 min");
  EXPECT_EQ(in_units(Unit::seconds, 86'400 * 2 + 3'600), "2 d 1 h");
  EXPECT_EQ(in_units(Unit::processor_ms, 1500), "1.50 s");
  EXPECT_EQ(in_units(Unit::moment_ms, 0), "never");
}

TEST(Quantity, has_rates_of_three_digits) {
  EXPECT_EQ(rate_in_units(Unit::count, 0), "0");
  EXPECT_EQ(rate_in_units(Unit::count, 0.01), "< 0.1");
  EXPECT_EQ(rate_in_units(Unit::count, 2.5), "2.5");
  EXPECT_EQ(rate_in_units(Unit::count, 48'123), "48.1 k");
  EXPECT_EQ(rate_in_units(Unit::count, 999'990), "1.00 M");
  EXPECT_EQ(rate_in_units(Unit::count, 1'000'000), "1.00 M");
  EXPECT_EQ(rate_in_units(Unit::bytes, 1536), "1.5 KiB");
  EXPECT_EQ(rate_in_units(Unit::processor_ms, 370), "37 %");
}

TEST(Quantity, draws_the_newest_values_beside_the_largest_of_them) {
  const std::array<double, 4> values = {100, 0, 4, 8};
  EXPECT_EQ(curve(values, 3, true), " ▄█");
  EXPECT_EQ(curve(values, 3, false), " =@");
  EXPECT_EQ(curve(values, 6, true), "  █ ▁▁");
  EXPECT_EQ(curve({}, 3, true), "   ");
  const std::array<double, 2> nothing = {0, 0};
  EXPECT_EQ(curve(nothing, 2, true), "  ");
}

TEST(Quantity, fills_a_bar) {
  EXPECT_EQ(bar(0, 4, true), "░░░░");
  EXPECT_EQ(bar(0.001, 4, true), "▏░░░");
  EXPECT_EQ(bar(0.5, 4, true), "██░░");
  EXPECT_EQ(bar(0.625, 4, true), "██▌░");
  EXPECT_EQ(bar(2, 4, true), "████");
  EXPECT_EQ(bar(0.5, 4, false), "##..");
}

}  // namespace
}  // namespace remora::cli
