// A1 to A3.
#include <atomic>
#include <set>
#include <span>
#include <thread>

#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

SENTENCE(A1, atomics_of_several_queue_pairs_are_indivisible) {
  Pair one(world);
  Pair two(world);
  constexpr std::uint64_t rounds = 60;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    one.post(one.fetch_add(i, i * 8, 64, 1));
    two.post(two.fetch_add(i, i * 8, 64, 1));
  }
  one.wait_sends(rounds);
  two.wait_sends(rounds);
  std::set<std::uint64_t> before;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    before.insert(load<std::uint64_t>(one.near_at(i * 8)));
    before.insert(load<std::uint64_t>(two.near_at(i * 8)));
  }
  EXPECT_EQ(before.size(), 2 * rounds) << "two of them saw the same value";
  EXPECT_EQ(one.far_word(64), 2 * rounds);
}

SENTENCE(A1, an_unaligned_word_is_refused) {
  for (int which = 0; which < 3; ++which) {
    Pair pair(world);
    const SendWork work = which == 0   ? pair.fetch_add(1, 0, 68, 1)
                          : which == 1 ? pair.compare_swap(1, 0, 65, 0, 1)
                                       : pair.atomic_write(1, 71, 1);
    EXPECT_EQ(pair.status_of(work), WorkStatus::remote_invalid_request) << which;
    EXPECT_EQ(pair.far_word(64), 0u);
    EXPECT_EQ(pair.far_word(72), 0u);
  }
}

SENTENCE(A2, atomics_return_the_value_from_before) {
  Pair pair(world);
  pair.post(pair.atomic_write(1, 128, 40));
  pair.post(pair.fetch_add(2, 0, 128, 2));
  pair.post(pair.compare_swap(3, 8, 128, 42, 50));
  pair.post(pair.compare_swap(4, 16, 128, 42, 60));
  pair.post(pair.fetch_add(5, 24, 128, ~std::uint64_t{0}));
  pair.post(pair.read(6, 32, 128, 8));
  pair.wait_sends(6);
  EXPECT_TRUE(all_succeeded(pair.near.sends));
  EXPECT_EQ(load<std::uint64_t>(pair.near_at(0)), 40u);
  EXPECT_EQ(load<std::uint64_t>(pair.near_at(8)), 42u);
  EXPECT_EQ(load<std::uint64_t>(pair.near_at(16)), 50u);
  EXPECT_EQ(load<std::uint64_t>(pair.near_at(24)), 50u);
  EXPECT_EQ(load<std::uint64_t>(pair.near_at(32)), 49u);
}

// Every word of the target holds one number twice; so must every word that a reader or a CPU sees.
bool whole(std::uint64_t value) {
  return (value >> 32) == (value & 0xffffffff);
}

SENTENCE(A3, aligned_words_are_never_torn) {
  Pair writer(world);
  Pair reader(world);
  constexpr std::size_t words = 700;
  for (std::uint64_t i = 0; i < 20; ++i) {
    for (std::size_t w = 0; w < words; ++w) {
      store(writer.near_at((i % 4 * words + w) * 8), (i + 1) << 32 | (i + 1));
    }
    writer.post(writer.write(i, i % 4 * words * 8, 0, words * 8));
    reader.post(reader.read(i, i % 2 * words * 8, 0, words * 8));
    const bool finished = world.run_until([&] {
      reader.near.poll();
      EXPECT_TRUE(whole(writer.far_word(8 * (words - 1))));
      EXPECT_TRUE(whole(writer.far_word(8 * (words / 2))));
      return reader.near.sends.size() > i;
    });
    EXPECT_TRUE(finished);
    for (std::size_t w = 0; w < words; ++w) {
      EXPECT_TRUE(whole(load<std::uint64_t>(reader.near_at((i % 2 * words + w) * 8))))
          << i << ", word " << w;
    }
    writer.wait_sends(i >= 3 ? i - 2 : 0);  // its source is used again
  }
  writer.wait_sends(20);
}

// A processor of the target stores words meanwhile. The last bytes are a part of a word, and at the
// initiator nothing is aligned: a copy of more than a word at a time is tempted to tear.
SENTENCE(A3, words_are_whole_in_reads_of_odd_sizes_to_odd_places) {
  Pair pair(world);
  constexpr std::size_t words = 64;
  const std::span target(reinterpret_cast<std::uint64_t*>(world.far_region().bytes().data()),
                         words);
  std::atomic<bool> stop = false;
  std::thread storing;
  if (!world.exact_time() && world.tells_survival()) {  // real time, and this machine's memory
    storing = std::thread([&] {
      for (std::uint32_t value = 1; !stop.load(std::memory_order_relaxed); ++value) {
        for (std::uint64_t& word : target) {
          std::atomic_ref(word).store(std::uint64_t{value} << 32 | value,
                                      std::memory_order_relaxed);
        }
      }
    });
    while (std::atomic_ref(target.back()).load() == 0) {
      std::this_thread::yield();
    }
  }
  std::size_t torn = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    for (const std::size_t size : {20u, 44u, 68u, 100u, 132u, 300u, 500u}) {
      for (const std::size_t to : {3u, 4u, 8u}) {
        EXPECT_EQ(pair.status_of(pair.read(round, to, 0, size)), WorkStatus::success);
        for (std::size_t at = 0; at + 8 <= size; at += 8) {
          torn += whole(load<std::uint64_t>(pair.near_at(to + at))) ? 0u : 1u;
        }
      }
    }
  }
  stop = true;
  if (storing.joinable()) {
    storing.join();
  }
  EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace remora::fabric::contract
