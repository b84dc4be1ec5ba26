#include "pmem/extents.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "base/random.h"

namespace remora {
namespace {

TEST(Extents, is_empty_at_first) {
  Extents extents;
  EXPECT_EQ(extents.free_blocks(), 0u);
  EXPECT_EQ(extents.largest(), 0u);
  EXPECT_FALSE(extents.take(1).has_value());
}

TEST(Extents, takes_from_the_front_of_a_run) {
  Extents extents;
  extents.give(10, 5);
  EXPECT_EQ(extents.take(2), 10u);
  EXPECT_EQ(extents.take(3), 12u);
  EXPECT_FALSE(extents.take(1).has_value());
}

TEST(Extents, takes_the_smallest_run_that_is_large_enough) {
  Extents extents;
  extents.give(0, 100);
  extents.give(200, 3);
  extents.give(300, 5);
  EXPECT_EQ(extents.take(4), 300u);
  EXPECT_EQ(extents.take(3), 200u);
  EXPECT_EQ(extents.take(2), 0u);
}

TEST(Extents, counts_whole_runs_and_what_a_take_would_leave_of_them) {
  Extents extents;
  EXPECT_EQ(extents.runs_of(4), 0u);
  EXPECT_EQ(extents.runs_after(1, 4), std::nullopt);
  extents.give(0, 11);
  extents.give(20, 3);
  extents.give(30, 3);
  extents.give(40, 4);
  EXPECT_EQ(extents.runs_of(4), 3u);
  EXPECT_EQ(extents.runs_of(3), 6u);
  for (const std::uint64_t taken : {1u, 3u, 4u, 5u, 7u, 8u, 11u}) {
    Extents after = extents;
    const std::optional<std::uint64_t> left = extents.runs_after(taken, 4);
    ASSERT_TRUE(after.take(taken).has_value());
    EXPECT_EQ(left, after.runs_of(4)) << taken;
  }
  EXPECT_EQ(extents.runs_after(3, 4), 3u) << "from what is no run of four";
  EXPECT_EQ(extents.runs_after(12, 4), std::nullopt);
}

TEST(Extents, takes_at_a_place_what_is_free_there_and_leaves_both_ends) {
  Extents extents;
  extents.give(10, 10);
  EXPECT_EQ(extents.free_from(9), 0u);
  EXPECT_EQ(extents.free_from(14), 6u);
  EXPECT_EQ(extents.free_from(20), 0u);
  EXPECT_FALSE(extents.take_at(9, 2));
  EXPECT_FALSE(extents.take_at(18, 3));
  EXPECT_FALSE(extents.take_at(12, 0));
  EXPECT_EQ(extents.free_blocks(), 10u);
  EXPECT_TRUE(extents.take_at(13, 4));
  EXPECT_EQ(extents.free_blocks(), 6u);
  EXPECT_FALSE(extents.take_at(16, 2));
  EXPECT_TRUE(extents.take_at(10, 3));
  EXPECT_TRUE(extents.take_at(17, 3));
  EXPECT_EQ(extents.free_blocks(), 0u);
  extents.give(10, 10);
  EXPECT_EQ(extents.largest(), 10u);
}

TEST(Extents, takes_the_most_there_is) {
  Extents extents;
  EXPECT_EQ(extents.take_most(3), std::nullopt);
  extents.give(0, 5);
  extents.give(10, 8);
  EXPECT_EQ(extents.take_most(4), (BlockRun{0, 4})) << "the smallest run that has as many";
  EXPECT_EQ(extents.take_most(20), (BlockRun{10, 8}));
  EXPECT_EQ(extents.take_most(20), (BlockRun{4, 1}));
  EXPECT_EQ(extents.take_most(20), std::nullopt);
}

TEST(Extents, takes_the_lowest_of_equal_runs) {
  Extents extents;
  extents.give(50, 4);
  extents.give(20, 4);
  EXPECT_EQ(extents.take(4), 20u);
  EXPECT_EQ(extents.take(4), 50u);
}

TEST(Extents, takes_nothing_when_no_single_run_is_large_enough) {
  Extents extents;
  extents.give(0, 3);
  extents.give(10, 3);
  EXPECT_FALSE(extents.take(4).has_value());
  EXPECT_EQ(extents.free_blocks(), 6u);
}

TEST(Extents, joins_the_neighbour_before) {
  Extents extents;
  extents.give(0, 4);
  extents.give(4, 4);
  EXPECT_EQ(extents.largest(), 8u);
}

TEST(Extents, joins_the_neighbour_after) {
  Extents extents;
  extents.give(4, 4);
  extents.give(0, 4);
  EXPECT_EQ(extents.largest(), 8u);
}

TEST(Extents, joins_both_neighbours) {
  Extents extents;
  extents.give(0, 4);
  extents.give(8, 4);
  extents.give(4, 4);
  EXPECT_EQ(extents.largest(), 12u);
  EXPECT_EQ(extents.take(12), 0u);
}

TEST(Extents, keeps_runs_apart_that_do_not_touch) {
  Extents extents;
  extents.give(0, 4);
  extents.give(5, 4);
  EXPECT_EQ(extents.largest(), 4u);
  EXPECT_EQ(extents.free_blocks(), 8u);
}

TEST(ExtentsDeathTest, notices_blocks_that_are_freed_twice) {
  Extents extents;
  extents.give(10, 10);
  EXPECT_EXIT(extents.give(10, 1), testing::KilledBySignal(SIGABRT), "blocks freed twice");
  EXPECT_EXIT(extents.give(19, 2), testing::KilledBySignal(SIGABRT), "blocks freed twice");
  EXPECT_EXIT(extents.give(5, 6), testing::KilledBySignal(SIGABRT), "blocks freed twice");
}

// The model: one flag for each block, and the longest run of set flags.
std::uint64_t longest_run(const std::vector<bool>& free) {
  std::uint64_t longest = 0;
  std::uint64_t run = 0;
  for (const bool is_free : free) {
    run = is_free ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

TEST(Extents, agrees_with_a_bitmap_under_random_use) {
  constexpr std::uint64_t blocks = 512;
  Random random(1);
  Extents extents;
  extents.give(0, blocks);
  std::vector<bool> free(blocks, true);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
  for (int step = 0; step < 20'000; ++step) {
    if (random.chance(1, 2)) {
      const std::uint64_t count = random.between(1, 20);
      const std::uint64_t longest = longest_run(free);
      const auto first = extents.take(count);
      ASSERT_EQ(first.has_value(), longest >= count);
      for (std::uint64_t i = 0; first && i < count; ++i) {
        ASSERT_TRUE(free[*first + i]);
        free[*first + i] = false;
      }
      if (first) {
        taken.emplace_back(*first, count);
      }
    } else if (!taken.empty()) {
      std::swap(taken[random.below(taken.size())], taken.back());
      const auto [first, count] = taken.back();
      taken.pop_back();
      extents.give(first, count);
      for (std::uint64_t i = 0; i < count; ++i) {
        free[first + i] = true;
      }
    }
    ASSERT_EQ(extents.largest(), longest_run(free));
    ASSERT_EQ(extents.free_blocks(),
              static_cast<std::uint64_t>(std::count(free.begin(), free.end(), true)));
  }
}

}  // namespace
}  // namespace remora
