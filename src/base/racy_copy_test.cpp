#include "base/racy_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace remora {
namespace {

TEST(RacyCopy, copies_exactly_the_range_at_every_alignment) {
  alignas(word_bytes) std::array<std::byte, 64> source;
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(i + 1);
  }
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t to = 0; to < 9; ++to) {
      for (std::size_t size = 0; size <= 40; ++size) {
        alignas(word_bytes) std::array<std::byte, 64> target = {};
        racy_copy(Bytes(target).subspan(to, size), ConstBytes(source).subspan(from, size));
        for (std::size_t i = 0; i < target.size(); ++i) {
          const bool inside = i >= to && i < to + size;
          ASSERT_EQ(target[i], inside ? source[i - to + from] : std::byte{0})
              << "from " << from << " to " << to << " size " << size << " at " << i;
        }
      }
    }
  }
}

TEST(RacyCopy, takes_nothing_from_nowhere) {
  racy_copy({}, {});
}

TEST(RacyCopyDeathTest, a_target_too_small_is_a_bug) {
  std::array<std::byte, 8> bytes = {};
  EXPECT_DEATH(racy_copy(Bytes(bytes).first(7), bytes), "does not fit");
}

// With memcpy in its place this is a data race, and ThreadSanitizer says so.
TEST(RacyCopy, reads_while_a_peer_writes_and_sees_only_what_was_written) {
  constexpr std::size_t size = 253;
  alignas(word_bytes) std::array<std::byte, 256> shared = {};
  const Bytes range = Bytes(shared).subspan(1, size);
  std::atomic<bool> stop = false;

  std::thread writer([&] {
    const std::vector<std::byte> zeros(size);
    const std::vector<std::byte> ones(size, std::byte{0xFF});
    while (!stop.load(std::memory_order_relaxed)) {
      racy_copy(range, ones);
      racy_copy(range, zeros);
    }
  });

  std::vector<std::byte> seen(size);
  bool only_what_was_written = true;
  for (int i = 0; i < 5'000; ++i) {
    racy_copy(seen, range);
    only_what_was_written &= std::all_of(seen.begin(), seen.end(), [](std::byte byte) {
      return byte == std::byte{0} || byte == std::byte{0xFF};
    });
  }
  stop = true;
  writer.join();
  EXPECT_TRUE(only_what_was_written);
}

}  // namespace
}  // namespace remora
