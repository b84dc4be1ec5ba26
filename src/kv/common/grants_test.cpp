#include "kv/common/grants.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace remora::kv {
namespace {

constexpr auto never_past = [](const Grant&) { return false; };
constexpr auto always_past = [](const Grant&) { return true; };

TEST(GrantsTest, finds_what_lies_within_one_grant) {
  Grants grants;
  EXPECT_EQ(grants.find(0, 1), nullptr);
  grants.open(1, 4096, 4096 + 72, 100, never_past);
  grants.open(1, 4288, 4288 + 72, 50, never_past);
  ASSERT_NE(grants.find(4168, 100), nullptr);
  EXPECT_EQ(grants.find(4168, 100)->number, 1U);
  EXPECT_EQ(grants.find(4267, 1)->number, 1U);
  EXPECT_EQ(grants.find(4360, 50)->number, 2U);
  EXPECT_EQ(grants.find(4167, 1), nullptr);
  EXPECT_EQ(grants.find(4168, 101), nullptr);
  EXPECT_EQ(grants.find(4268, 1), nullptr);
  EXPECT_EQ(grants.find(4288, 8), nullptr);
  EXPECT_EQ(grants.find(4400, 11), nullptr);
  EXPECT_EQ(grants.find(4168, ~std::uint64_t{0}), nullptr);
  EXPECT_EQ(grants.find(~std::uint64_t{0}, 2), nullptr);
}

TEST(GrantsTest, finds_objects_by_where_they_begin) {
  Grants grants;
  grants.open(1, 4096, 4096 + 72, 0, never_past);
  grants.open(1, 4224, 4224 + 72, 8, never_past);
  grants.open(2, 1024, 1024 + 1088, 8, never_past);
  EXPECT_EQ(grants.find_object(4096)->number, 1U);
  EXPECT_EQ(grants.find_object(4224)->number, 2U);
  EXPECT_EQ(grants.find_object(1024)->number, 3U);
  EXPECT_EQ(grants.find_object(4168), nullptr);
  EXPECT_EQ(grants.find_object(1088), nullptr);
  EXPECT_EQ(grants.find_object(0), nullptr);
}

TEST(GrantsTest, drops_what_came_before_a_round) {
  Grants grants;
  grants.open(1, 4096, 4168, 8, never_past);
  grants.open(2, 1024, 1096, 8, never_past);
  const std::uint64_t round = grants.next_number();
  grants.open(1, 8192, 8264, 8, never_past);
  grants.drop_before(round);
  EXPECT_EQ(grants.size(), 1U);
  EXPECT_EQ(grants.find(4168, 8), nullptr);
  EXPECT_EQ(grants.find(1096, 8), nullptr);
  EXPECT_NE(grants.find(8264, 8), nullptr);
  grants.open(2, 2048, 2120, 8, never_past);
  EXPECT_NE(grants.find(2120, 8), nullptr);
}

// However many come: what was not written is found, and what was is forgotten in time.
TEST(GrantsTest, keeps_what_was_not_written_and_forgets_the_rest) {
  Grants grants;
  constexpr std::uint64_t count = 50 * Grants::remembered;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Offset object = 4096 + i * 128;
    grants.open(1 + i / 10'000, object, object + 72, 8, never_past);
    if (i % 1000 != 0) {
      grants.find(object + 72, 8)->written = true;
    }
  }
  for (std::uint64_t i = 0; i < count; i += 1000) {
    EXPECT_NE(grants.find(4096 + i * 128 + 72, 8), nullptr) << i;
  }
  EXPECT_LE(grants.size(), 4 * Grants::remembered + count / 1000);
  for (std::uint64_t i = count - Grants::remembered; i < count; ++i) {
    EXPECT_NE(grants.find(4096 + i * 128 + 72, 8), nullptr) << i;
  }
}

TEST(GrantsTest, forgets_what_its_owner_calls_past) {
  Grants grants;
  for (std::uint64_t i = 0; i < 20 * Grants::remembered; ++i) {
    grants.open(1, 4096 + i * 128, 4168 + i * 128, 8, always_past);
  }
  EXPECT_LE(grants.size(), 2 * Grants::remembered);
}

// Against a map that forgets nothing.
TEST(GrantsTest, agrees_with_a_map) {
  Random random(7);
  Grants grants;
  std::map<Offset, std::uint64_t> sizes;  // by the begin of the value
  std::array<Offset, 5> ends = {};
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::uint64_t segment = random.below(ends.size());
    const Offset object = (segment * 7 % 5 + 1) * (1 << 24) + ends[segment];
    const std::uint64_t size = random.below(300);
    grants.open(segment + 1, object, object + 80, static_cast<std::uint32_t>(size), never_past);
    ends[segment] += round_up(80 + size, std::uint64_t{64}) + 64 * random.below(3);
    if (size != 0) {
      sizes[object + 80] = size;
    }
    const Offset near = object - std::min<Offset>(object, random.below(6000));
    const std::uint64_t asked = 1 + random.below(100);
    const auto next = sizes.upper_bound(near);
    const bool is_granted =
        next != sizes.begin() && near + asked <= std::prev(next)->first + std::prev(next)->second;
    EXPECT_EQ(grants.find(near, asked) != nullptr, is_granted) << i;
  }
}

}  // namespace
}  // namespace remora::kv
