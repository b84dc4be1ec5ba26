#include "fabric/nic/wire/roce/crc32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace remora::fabric::nic::roce {
namespace {

std::vector<std::byte> some_bytes(std::size_t size_bytes) {
  Random random(size_bytes);
  std::vector<std::byte> bytes(size_bytes);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random.next()); });
  return bytes;
}

TEST(Crc32, is_the_one_of_ethernet) {
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xcbf43926u);
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(crc32(as_bytes("6789"), crc32(as_bytes("12345"))), 0xcbf43926u);
}

// Sizes around those of what is copied at once, and everything that may lie behind it.
TEST(Crc32, is_the_same_while_bytes_are_copied) {
  constexpr std::size_t largest = 4096 + 300;
  constexpr std::byte untouched{0x5a};
  const std::vector<std::byte> source = some_bytes(largest + 64);
  for (std::size_t size = 0; size <= largest; size += size < 1100 ? 1 : 37) {
    const std::size_t offset = size % 61;
    const ConstBytes bytes = ConstBytes(source).subspan(offset, size);
    const auto seed = static_cast<std::uint32_t>(size * 2'654'435'761u);
    std::vector<std::byte> copy(size + 2 * 64, untouched);
    const std::size_t at = size % 17;
    EXPECT_EQ(copy_with_crc32(Bytes(copy).subspan(at), bytes, seed), crc32(bytes, seed)) << size;
    EXPECT_TRUE(std::ranges::equal(ConstBytes(copy).subspan(at, size), bytes)) << size;
    EXPECT_EQ(std::ranges::count(ConstBytes(copy).first(at), untouched),
              static_cast<std::ptrdiff_t>(at));
    EXPECT_EQ(copy[at + size], untouched) << size;
  }
}

}  // namespace
}  // namespace remora::fabric::nic::roce
