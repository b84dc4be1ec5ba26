#include "kv/index/place.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace remora::kv {
namespace {

TEST(Place, no_place_is_zero_and_zero_is_no_place) {
  EXPECT_EQ(encode(Place{}), 0u);
  EXPECT_EQ(decode(0), Place{});
}

TEST(Place, comes_back_as_it_went) {
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Place place{random.below(place_format::most_offset / 64 + 1) * 64,
                      random.below(place_format::most_size / 64 + 1) * 64, random.chance(1, 2),
                      random.chance(1, 2), random.chance(1, 2)};
    ASSERT_EQ(decode(encode(place)), place);
  }
}

TEST(Place, holds_the_largest_offset_and_size_without_touching_the_flags) {
  const Place place{place_format::most_offset, place_format::most_size, false, false};
  EXPECT_EQ(encode(place) >> 60, 0u);
  EXPECT_EQ(decode(encode(place)), place);
  EXPECT_GE(place_format::most_offset + 64, pool_format::largest_pool_bytes);
}

TEST(Place, has_its_bits_where_the_format_says) {
  EXPECT_EQ(encode(Place{64, 128, true, false}),
            1 | std::uint64_t{2} << 40 | std::uint64_t{1} << 60);
  EXPECT_EQ(encode(Place{128, 64, false, true}),
            2 | std::uint64_t{1} << 40 | std::uint64_t{1} << 61);
  EXPECT_EQ(encode(Place{64, 64, false, false, true}),
            1 | std::uint64_t{1} << 40 | std::uint64_t{1} << 62);
}

TEST(PlaceDeathTest, what_does_not_fit_is_a_bug) {
  EXPECT_DEATH(encode(Place{place_format::most_offset + 64, 64, false, false}), "no such offset");
  EXPECT_DEATH(encode(Place{65, 64, false, false}), "no such offset");
  EXPECT_DEATH(encode(Place{64, place_format::most_size + 64, false, false}), "too large");
}

TEST(Place, of_a_peer_is_checked_against_the_pool) {
  EXPECT_TRUE(lies_within(Place{4096, 128, false, false}, 4096 + 128));
  EXPECT_FALSE(lies_within(Place{4096, 192, false, false}, 4096 + 128));
  EXPECT_FALSE(lies_within(Place{0, 128, false, false}, 4096));
  EXPECT_FALSE(lies_within(Place{4096, 0, false, false}, 8192));
  EXPECT_FALSE(lies_within(Place{64, place_format::most_size, false, false}, 1 << 30));
  EXPECT_FALSE(lies_within(decode(~std::uint64_t{0}), std::uint64_t{1} << 45));
}

}  // namespace
}  // namespace remora::kv
