#include "fabric/nic/wire/mapped/dirty_ranges.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "base/random.h"

namespace remora::fabric::nic::mapped {
namespace {

using Parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Parts take(DirtyRanges& ranges, std::uint64_t begin, std::uint64_t end) {
  Parts parts;
  ranges.take(begin, end,
              [&](const DirtyRanges::Range& part) { parts.emplace_back(part.begin, part.end); });
  return parts;
}

TEST(DirtyRanges, neighbours_become_one) {
  DirtyRanges ranges;
  ranges.add(64, 64);
  ranges.add(128, 64);
  ranges.add(0, 64);
  EXPECT_EQ(take(ranges, 0, 1000), (Parts{{0, 192}}));
  EXPECT_TRUE(ranges.empty());
}

TEST(DirtyRanges, only_what_lies_in_the_range_is_taken) {
  DirtyRanges ranges;
  ranges.add(0, 100);
  ranges.add(1000, 100);
  EXPECT_EQ(take(ranges, 50, 200), (Parts{{50, 100}}));
  EXPECT_EQ(take(ranges, 0, 2000), (Parts{{0, 50}, {1000, 1100}}));
}

// Whatever is added and taken: a byte that was added and not taken since is always given.
TEST(DirtyRanges, nothing_that_was_written_is_forgotten) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    DirtyRanges ranges;
    std::set<std::uint64_t> model;
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t begin = random.below(4000);
      const std::uint64_t size = random.between(1, 60);
      if (random.chance(3, 4)) {
        ranges.add(begin, size);
        for (std::uint64_t at = begin; at < begin + size; ++at) {
          model.insert(at);
        }
        continue;
      }
      std::set<std::uint64_t> got;
      for (const auto& [from, to] : take(ranges, begin, begin + 4 * size)) {
        for (std::uint64_t at = from; at < to; ++at) {
          got.insert(at);
        }
      }
      for (std::uint64_t at = begin; at < begin + 4 * size; ++at) {
        ASSERT_TRUE(!model.contains(at) || got.contains(at)) << "seed " << seed << ", byte " << at;
        model.erase(at);
      }
    }
  }
}

}  // namespace
}  // namespace remora::fabric::nic::mapped
