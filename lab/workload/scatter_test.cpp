#include "lab/workload/scatter.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace remora::workload {
namespace {

std::vector<std::uint64_t> keys_of_all_ranks(const Scatter& scatter, std::uint64_t keys) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t rank = 0; rank < keys; ++rank) {
    all.push_back(scatter.key_of(rank, keys));
  }
  return all;
}

TEST(Permute, loses_no_number) {
  for (unsigned bits = 0; bits <= 16; ++bits) {
    const std::uint64_t size = std::uint64_t{1} << bits;
    std::vector<bool> seen(size);
    for (std::uint64_t value = 0; value < size; ++value) {
      const std::uint64_t to = permute(value, bits);
      ASSERT_LT(to, size) << bits;
      ASSERT_FALSE(seen[to]) << bits;
      seen[to] = true;
    }
  }
}

TEST(Permute, stays_the_same_for_ever) {
  EXPECT_EQ(permute(0, 20), 639398u);
  EXPECT_EQ(permute(1, 64), 0x7ce1a76c74dbc890u);
}

TEST(Scatter, is_a_permutation_for_every_number_of_keys) {
  for (const std::uint64_t first : {1u, 2u, 3u, 7u, 64u, 100u}) {
    const Scatter scatter(first);
    for (std::uint64_t keys = first; keys < first + 200; ++keys) {
      const std::vector<std::uint64_t> all = keys_of_all_ranks(scatter, keys);
      const std::set<std::uint64_t> distinct(all.begin(), all.end());
      ASSERT_EQ(distinct.size(), keys);
      ASSERT_EQ(*distinct.rbegin(), keys - 1);
    }
  }
}

TEST(Scatter, moves_at_most_one_rank_when_a_key_is_added) {
  const Scatter scatter(100);
  for (std::uint64_t keys = 100; keys < 400; ++keys) {
    const std::vector<std::uint64_t> before = keys_of_all_ranks(scatter, keys);
    const std::vector<std::uint64_t> after = keys_of_all_ranks(scatter, keys + 1);
    int moved = 0;
    for (std::uint64_t rank = 0; rank < keys; ++rank) {
      moved += before[rank] == after[rank] ? 0 : 1;
    }
    ASSERT_LE(moved, 1) << keys;
  }
}

TEST(Scatter, spreads_the_first_ranks_over_all_keys) {
  constexpr std::uint64_t keys = 1'000'000;
  constexpr int ranks = 1'000;
  const Scatter scatter(keys);
  int by_tenth[10] = {};
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    ++by_tenth[scatter.key_of(rank, keys) / (keys / 10)];
  }
  for (const int count : by_tenth) {
    EXPECT_GT(count, 60);
    EXPECT_LT(count, 140);
  }
}

}  // namespace
}  // namespace remora::workload
