#include "kv/log/kept_prefix.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.h"

namespace remora::kv {
namespace {

// Versions have their sequence numbers for offsets.
struct Kept {
  explicit Kept(std::uint64_t settled) : prefix(settled) {}

  Kept& one(std::uint64_t sequence, bool more = false, bool was_persistent = false) {
    prefix.add({sequence, sequence, more, was_persistent});
    return *this;
  }
  std::uint64_t end() {
    return prefix.end([this](Offset offset) { return !torn.contains(offset); });
  }

  KeptPrefix prefix;
  std::set<Offset> torn;
};

constexpr bool more = true;

TEST(KeptPrefix, of_nothing_is_nothing) {
  EXPECT_EQ(Kept(7).end(), 8u);
}

TEST(KeptPrefix, ends_where_a_version_is_missing) {
  EXPECT_EQ(Kept(0).one(1).one(2).one(4).end(), 3u);
  EXPECT_EQ(Kept(0).one(2).end(), 1u);
  EXPECT_EQ(Kept(0).one(3).one(1).one(2).end(), 4u);
}

TEST(KeptPrefix, asks_no_version_that_is_settled) {
  EXPECT_EQ(Kept(5).one(2).one(4, more).one(6).end(), 7u);
}

TEST(KeptPrefix, has_all_of_a_write_or_nothing) {
  EXPECT_EQ(Kept(0).one(1).one(2, more).one(3, more).one(4).one(5).end(), 6u);
  EXPECT_EQ(Kept(0).one(1).one(2, more).one(3, more).one(5).end(), 2u);
  EXPECT_EQ(Kept(0).one(1).one(3, more).one(4).end(), 2u);
  EXPECT_EQ(Kept(0).one(1).one(2, more).one(3, more).end(), 2u);
}

TEST(KeptPrefix, asks_whether_the_versions_of_a_write_are_whole) {
  for (std::uint64_t torn = 2; torn <= 4; ++torn) {
    Kept kept(0);
    kept.torn = {torn};
    EXPECT_EQ(kept.one(1).one(2, more).one(3, more).one(4).one(5).end(), 2u) << torn;
  }
  Kept alone(0);
  alone.torn = {1, 2};
  EXPECT_EQ(alone.one(1).one(2).one(3).end(), 4u);
}

TEST(KeptPrefix, believes_a_version_that_was_persistent_and_all_of_its_write) {
  EXPECT_EQ(Kept(0).one(5, false, true).one(6).end(), 7u);
  Kept write(0);
  write.torn = {5, 6, 7};
  EXPECT_EQ(write.one(5, more).one(6, more, true).one(7).one(8).end(), 9u);
}

TEST(KeptPrefix, takes_a_version_and_its_copy_for_one) {
  Kept kept(0);
  kept.torn = {102};
  kept.one(1).one(2, more).one(3);
  kept.prefix.add({2, 102, more, false});
  EXPECT_EQ(kept.end(), 4u);
  EXPECT_EQ(Kept(0).one(1).one(2, more).one(2, more).end(), 2u);
}

// Against the rule, taken literally.
TEST(KeptPrefix, is_what_is_left_before_the_first_write_that_is_not_whole) {
  Random random(1);
  for (int run = 0; run < 20'000; ++run) {
    const std::uint64_t settled_writes = random.below(3);
    std::uint64_t sequence = 0;
    std::uint64_t settled = 0;
    std::uint64_t expected = 0;  // the end
    std::vector<KeptPrefix::Version> left;
    std::set<Offset> torn;
    const std::uint64_t lost_one_in = random.between(2, 30);
    for (std::uint64_t write = 0; write < 6; ++write) {
      const std::uint64_t first = sequence + 1;
      const std::uint64_t size = random.chance(1, 2) ? 1 : random.between(2, 4);
      bool is_whole = true;
      for (std::uint64_t i = 0; i < size; ++i) {
        ++sequence;
        const bool is_lost = random.chance(1, lost_one_in);
        const bool is_torn = random.chance(1, lost_one_in);
        is_whole = is_whole && !is_lost && (size == 1 || !is_torn);
        if (!is_lost) {
          left.push_back({sequence, sequence, i + 1 < size, false});
        }
        if (is_torn) {
          torn.insert(sequence);
        }
      }
      if (write < settled_writes) {
        settled = sequence;
      } else if (!is_whole && expected == 0) {
        expected = first;
      }
    }
    std::uint64_t newest = settled;
    for (const KeptPrefix::Version& version : left) {
      newest = std::max(newest, version.sequence);
    }
    expected = expected == 0 ? sequence + 1 : expected;
    KeptPrefix prefix(settled);
    for (std::size_t i = 1; i < left.size(); ++i) {
      std::swap(left[i], left[random.below(i + 1)]);
    }
    for (const KeptPrefix::Version& version : left) {
      prefix.add(version);
    }
    const std::uint64_t end = prefix.end([&](Offset offset) { return !torn.contains(offset); });
    // Behind everything that was found, nobody can tell how much there was.
    EXPECT_EQ(std::min(end, newest + 1), std::min(expected, newest + 1)) << "run " << run;
  }
}

}  // namespace
}  // namespace remora::kv
