#include "front/resp/short_waits.h"

#include <gtest/gtest.h>

namespace remora::resp {
namespace {

ShortWaits after_short_ones() {
  ShortWaits waits;
  for (int i = 0; i < 100; ++i) {
    waits.came();
  }
  return waits;
}

TEST(ShortWaits, are_expected_only_after_some) {
  ShortWaits waits;
  EXPECT_FALSE(waits.expected());
  waits.came();
  EXPECT_FALSE(waits.expected());
  EXPECT_TRUE(after_short_ones().expected());
}

TEST(ShortWaits, are_not_expected_any_more_after_a_few_looks_in_vain) {
  ShortWaits waits = after_short_ones();
  int looks = 0;
  for (; waits.expected(); ++looks) {
    waits.looked_in_vain();
  }
  EXPECT_LE(looks, 3);
}

TEST(ShortWaits, stay_expected_while_most_looks_find_something) {
  ShortWaits waits = after_short_ones();
  for (int i = 0; i < 1000; ++i) {
    i % 10 == 0 ? waits.looked_in_vain() : waits.came();
    EXPECT_TRUE(waits.expected()) << i;
  }
}

// A client that asks, is answered and thinks for a while.
TEST(ShortWaits, cost_few_looks_where_sleeps_are_short_and_looks_in_vain) {
  ShortWaits waits;
  int looks = 0;
  for (int i = 0; i < 1000; ++i) {
    if (waits.expected()) {
      ++looks;
      waits.looked_in_vain();
    } else {
      waits.came();
    }
  }
  EXPECT_LE(looks, 200);
}

TEST(ShortWaits, are_forgotten_by_sleeping_long) {
  ShortWaits waits = after_short_ones();
  for (int i = 0; i < 16; ++i) {
    waits.slept_long();
  }
  EXPECT_FALSE(waits.expected());
}

}  // namespace
}  // namespace remora::resp
