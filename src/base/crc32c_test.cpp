#include "base/crc32c.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace remora {
namespace {

// One bit at a time, straight from the definition.
std::uint32_t reference(ConstBytes bytes) {
  std::uint32_t state = 0xFFFFFFFF;
  for (std::byte byte : bytes) {
    state ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      state = (state >> 1) ^ ((state & 1) != 0 ? 0x82F63B78u : 0u);
    }
  }
  return ~state;
}

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.next());
  }
  return bytes;
}

TEST(Crc32c, gives_the_known_answers) {
  EXPECT_EQ(crc32c({}), 0u);
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(as_bytes("a")), 0xC1D04330u);
  EXPECT_EQ(crc32c(as_bytes("The quick brown fox jumps over the lazy dog")), 0x22620404u);
}

// The samples of RFC 3720, appendix B.4.
TEST(Crc32c, gives_the_answers_of_the_iscsi_standard) {
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(crc32c(bytes), 0x8A9136AAu);
  bytes.assign(32, std::byte{0xFF});
  EXPECT_EQ(crc32c(bytes), 0x62A8AB43u);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i);
  }
  EXPECT_EQ(crc32c(bytes), 0x46DD794Eu);
}

TEST(Crc32c, agrees_with_the_definition_at_every_length_and_alignment) {
  const std::vector<std::byte> bytes = random_bytes(320, 1);
  for (std::size_t start = 0; start < 16; ++start) {
    for (std::size_t size = 0; size <= 300; ++size) {
      const ConstBytes part = ConstBytes(bytes).subspan(start, size);
      ASSERT_EQ(crc32c(part), reference(part)) << "start " << start << " size " << size;
    }
  }
}

TEST(Crc32c, agrees_with_the_definition_on_long_input) {
  const std::vector<std::byte> bytes = random_bytes((1 << 16) + 80, 2);
  for (std::size_t size : {511u, 512u, 1000u, 4095u, 4096u, 4097u, 10'000u, 65'536u}) {
    const ConstBytes part = ConstBytes(bytes).subspan(size % 67, size);
    EXPECT_EQ(crc32c(part), reference(part)) << "size " << size;
  }
}

TEST(Crc32c, chains_at_every_split) {
  const std::vector<std::byte> bytes = random_bytes(600, 3);
  const std::uint32_t whole = crc32c(bytes);
  for (std::size_t split = 0; split <= bytes.size(); ++split) {
    const ConstBytes all(bytes);
    ASSERT_EQ(crc32c(all.subspan(split), crc32c(all.first(split))), whole) << "split " << split;
  }
}

// Untouched read-only memory: 2 GiB of zeros that occupy none.
TEST(Crc32c, takes_more_than_an_int_can_count) {
  const std::size_t size = (std::size_t{1} << 31) + 12'345;
  void* zeros = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  const ConstBytes all(static_cast<const std::byte*>(zeros), size);
  std::uint32_t in_parts = 0;
  for (std::size_t at = 0; at < size;) {
    const std::size_t part = std::min<std::size_t>(size - at, 300'000'001);
    in_parts = crc32c(all.subspan(at, part), in_parts);
    at += part;
  }
  EXPECT_EQ(crc32c(all), in_parts);
  munmap(zeros, size);
}

}  // namespace
}  // namespace remora
