#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

#include "base/base_testing.h"

namespace remora {
namespace {

// Traces are replayed from seeds written down years earlier: these numbers may never change.
TEST(Random, gives_the_same_numbers_for_ever) {
  Random random(1);
  EXPECT_EQ(random.next(), 0xC5883E370B0926C3u);
  EXPECT_EQ(random.next(), 0x021B74B80F71F81Cu);
  EXPECT_EQ(random.next(), 0x268DF06749E5C8CEu);
}

// The first output of the published splitmix64 with state 0.
TEST(Mix, is_splitmix64) {
  EXPECT_EQ(mix(0), 0xE220A8397B1DCDAFu);
}

TEST(Random, runs_at_compile_time) {
  constexpr std::uint64_t drawn = Random(7).next();
  EXPECT_EQ(drawn, Random(7).next());
}

TEST(Random, nearby_seeds_share_nothing) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    Random random(seed);
    seen.insert(random.next());
    seen.insert(random.next());
  }
  EXPECT_EQ(seen.size(), 2'000u);
}

TEST(Random, below_stays_below_and_reaches_all) {
  Random random(2);
  int seen[7] = {};
  for (int i = 0; i < 7'000; ++i) {
    const std::uint64_t drawn = random.below(7);
    ASSERT_LT(drawn, 7u);
    ++seen[drawn];
  }
  for (int count : seen) {
    EXPECT_GT(count, 800);
    EXPECT_LT(count, 1'200);
  }
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, between_includes_both_ends) {
  Random random(3);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 200; ++i) {
    seen.insert(random.between(5, 8));
  }
  EXPECT_EQ(seen, (std::set<std::uint64_t>{5, 6, 7, 8}));
  EXPECT_EQ(random.between(9, 9), 9u);
}

TEST(Random, between_spans_all_64_bits) {
  Random random(4);
  Random same(4);
  EXPECT_EQ(random.between(0, all_ones), same.next());
}

TEST(Random, chance_follows_its_odds) {
  Random random(5);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    hits += random.chance(1, 4) ? 1 : 0;
    ASSERT_FALSE(random.chance(0, 4));
    ASSERT_TRUE(random.chance(4, 4));
  }
  EXPECT_GT(hits, 2'300);
  EXPECT_LT(hits, 2'700);
}

TEST(Random, unit_stays_in_its_half_open_range) {
  Random random(6);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double drawn = random.unit();
    ASSERT_GE(drawn, 0.0);
    ASSERT_LT(drawn, 1.0);
    sum += drawn;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, a_fork_is_not_shifted_by_draws_from_its_parent) {
  Random one(8);
  Random other(8);
  Random fork_of_one = one.fork();
  Random fork_of_other = other.fork();
  (void)one.next();
  EXPECT_EQ(fork_of_one.next(), fork_of_other.next());
  EXPECT_NE(one.next(), fork_of_one.next());
}

TEST(RandomDeathTest, a_bound_of_zero_is_a_bug) {
  Random random(9);
  EXPECT_DEATH((void)random.below(0), "below zero");
}

TEST(RandomDeathTest, ends_in_the_wrong_order_are_a_bug) {
  Random random(9);
  EXPECT_DEATH((void)random.between(5, 3), "wrong order");
}

}  // namespace
}  // namespace remora
