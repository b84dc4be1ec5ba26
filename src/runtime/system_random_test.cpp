#include "runtime/system_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace remora {
namespace {

TEST(SystemRandom, fills_every_part_of_a_long_range) {
  std::vector<std::byte> bytes(100'000);
  fill_random(bytes);
  // A chunk of 64 bytes that stays zero has a chance of 2^-512.
  for (std::size_t at = 0; at + 64 <= bytes.size(); at += 64) {
    const auto chunk = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    ASSERT_TRUE(std::any_of(chunk, chunk + 64, [](std::byte b) { return b != std::byte{}; }));
  }
}

TEST(SystemRandom, an_empty_range_is_fine) {
  fill_random({});
}

TEST(SystemRandom, words_differ) {
  EXPECT_NE(random_word(), random_word());
}

}  // namespace
}  // namespace remora
