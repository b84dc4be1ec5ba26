#include "base/racy_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace remora {
namespace {

using Copy = void (*)(Bytes to, ConstBytes from);

void check_every_alignment(Copy copy) {
  alignas(word_bytes) std::array<std::byte, 64> source;
  for (std::size_t i = 0; i < source.size(); ++i) {
    source[i] = static_cast<std::byte>(i + 1);
  }
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t to = 0; to < 9; ++to) {
      for (std::size_t size = 0; size <= 40; ++size) {
        alignas(word_bytes) std::array<std::byte, 64> target = {};
        copy(Bytes(target).subspan(to, size), ConstBytes(source).subspan(from, size));
        for (std::size_t i = 0; i < target.size(); ++i) {
          const bool inside = i >= to && i < to + size;
          ASSERT_EQ(target[i], inside ? source[i - to + from] : std::byte{0})
              << "from " << from << " to " << to << " size " << size << " at " << i;
        }
      }
    }
  }
}

TEST(RacyCopy, copies_exactly_the_range_at_every_alignment) {
  check_every_alignment(racy_copy);
  check_every_alignment(racy_copy_words);
}

TEST(RacyCopy, takes_nothing_from_nowhere) {
  racy_copy({}, {});
  racy_copy_words({}, {});
}

// One thread stores words whose halves are alike; so must be those of every word in a copy,
// wherever that begins and ends.
TEST(RacyCopy, takes_words_whole_at_every_alignment) {
  constexpr std::size_t words = 64;
  alignas(cache_line_bytes) std::array<std::uint64_t, words> shared = {};
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (std::uint64_t value = 1; !stop.load(std::memory_order_relaxed); ++value) {
      for (std::uint64_t& word : shared) {
        std::atomic_ref(word).store((value & 0xffff) * 0x0001000100010001,
                                    std::memory_order_relaxed);
      }
    }
  });
  while (std::atomic_ref(shared.back()).load() == 0) {
    std::this_thread::yield();
  }
  alignas(cache_line_bytes) std::array<std::byte, words * word_bytes + word_bytes> copy;
  std::size_t torn = 0;
  for (int round = 0; round < 500; ++round) {
    for (std::size_t from = 0; from < word_bytes; ++from) {
      for (std::size_t to = 0; to < word_bytes; ++to) {
        for (const std::size_t size : {20u, 44u, 68u, 100u, 132u, 255u, 300u, 500u}) {
          racy_copy_words(Bytes(copy).subspan(to, size),
                          std::as_bytes(std::span(shared)).subspan(from, size));
          for (std::size_t at = (word_bytes - from) % word_bytes; at + word_bytes <= size;
               at += word_bytes) {
            const auto word = load<std::uint64_t>(&copy[to + at]);
            torn += word == (word & 0xffff) * 0x0001000100010001 ? 0u : 1u;
          }
        }
      }
    }
  }
  stop = true;
  writer.join();
  EXPECT_EQ(torn, 0u);
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
