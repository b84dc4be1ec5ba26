#include "base/bytes.h"

#include <gtest/gtest.h>

#include <array>

#include "base/base_testing.h"

namespace remora {
namespace {

TEST(Bytes, text_goes_to_bytes_and_back) {
  const std::string_view text = std::string_view("a\0b", 3);
  EXPECT_EQ(as_bytes(text).size(), 3u);
  EXPECT_EQ(as_text(as_bytes(text)), text);
  EXPECT_TRUE(as_text(as_bytes("")).empty());
}

TEST(Bytes, object_bytes_are_little_endian) {
  const std::uint32_t value = 0x04030201;
  const ConstBytes bytes = object_bytes(value);
  ASSERT_EQ(bytes.size(), 4u);
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_EQ(bytes[3], std::byte{4});
}

TEST(Bytes, store_and_load_agree_at_every_alignment) {
  std::array<std::byte, 24> bytes = {};
  for (std::size_t at = 0; at < 16; ++at) {
    store<std::uint64_t>(&bytes[at], 0x1122334455667788 + at);
    EXPECT_EQ(load<std::uint64_t>(&bytes[at]), 0x1122334455667788 + at);
    store<std::int16_t>(&bytes[at], -2);
    EXPECT_EQ(load<std::int16_t>(&bytes[at]), -2);
  }
}

TEST(Bytes, rounds_to_multiples) {
  EXPECT_EQ(round_up(0u, 64u), 0u);
  EXPECT_EQ(round_up(1u, 64u), 64u);
  EXPECT_EQ(round_up(64u, 64u), 64u);
  EXPECT_EQ(round_up(65u, 64u), 128u);
  EXPECT_EQ(round_down(63u, 64u), 0u);
  EXPECT_EQ(round_down(64u, 64u), 64u);
  EXPECT_EQ(round_down(127u, 64u), 64u);
}

TEST(Within, takes_ranges_up_to_the_limit) {
  EXPECT_TRUE(within(0, 0, 0));
  EXPECT_TRUE(within(0, 10, 10));
  EXPECT_TRUE(within(10, 0, 10));
  EXPECT_TRUE(within(all_ones, 0, all_ones));
}

TEST(Within, refuses_ranges_that_pass_the_limit_or_wrap) {
  EXPECT_FALSE(within(0, 11, 10));
  EXPECT_FALSE(within(11, 0, 10));
  EXPECT_FALSE(within(5, all_ones, 10));
  EXPECT_FALSE(within(all_ones, 1, all_ones));
  EXPECT_FALSE(within(all_ones, all_ones, all_ones));
}

}  // namespace
}  // namespace remora
