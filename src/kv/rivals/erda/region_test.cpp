#include <gtest/gtest.h>

#include "kv/rivals/erda/region_format.h"

namespace remora::kv::erda {
namespace {

TEST(Versions, keep_the_latest_two) {
  std::uint64_t word = 0;
  EXPECT_EQ(decode_versions(word).newest, 0u);
  word = advance(word, 64);
  EXPECT_EQ(decode_versions(word).newest, 64u);
  EXPECT_EQ(decode_versions(word).previous, 0u);
  word = advance(word, 128);
  EXPECT_EQ(decode_versions(word).newest, 128u);
  EXPECT_EQ(decode_versions(word).previous, 64u);
  word = advance(word, largest_pool_bytes - 64);
  EXPECT_EQ(decode_versions(word).newest, largest_pool_bytes - 64);
  EXPECT_EQ(decode_versions(word).previous, 128u);
  const std::uint64_t sizes = with_size(with_size(0, 0, 640), 1, 16 << 20);
  EXPECT_EQ(size_hint(sizes, 0), 640u);
  EXPECT_EQ(size_hint(sizes, 1), 16u << 20);
}

// The example of docs/formats/rivals.md.
TEST(Versions, replace_the_older_of_two_offsets) {
  const std::uint64_t first = advance(0, 0x12000);
  EXPECT_EQ(first, 0x8000024000000000u);
  const std::uint64_t second = advance(first, 0x12100);
  EXPECT_EQ(second, 0x0000024000000484u);
  EXPECT_EQ(decode_versions(second).newest, 0x12100u);
  EXPECT_EQ(decode_versions(second).previous, 0x12000u);
}

}  // namespace
}  // namespace remora::kv::erda
