// Peers read the table while the server changes it.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/racy_copy.h"
#include "base/random.h"
#include "kv/index/index_testing.h"
#include "kv/index/window.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t key_count = 16;
constexpr std::uint64_t readers_pool_bytes = std::uint64_t{1} << 30;

// Version v of key k lies at (v * key_count + k) * 64: a place that is of another key shows.
std::uint64_t version_place(std::uint64_t key, std::uint64_t version) {
  return place_of(version * key_count + key);
}
Tag tag_of(std::uint64_t key) {
  return mix(key);
}

TEST(IndexReaders, see_whole_words_and_never_an_older_version) {
  TestIndex test(4);
  std::atomic<bool> stop = false;
  std::array<IndexSlot, key_count> slots;
  for (std::uint64_t key = 0; key < key_count; ++key) {
    slots[key] = test.index.insert(tag_of(key), 0, version_place(key, 1));
  }
  std::uint64_t wrong = 0;
  std::uint64_t looked = 0;
  std::thread reader([&] {
    std::array<std::uint64_t, key_count> newest{};
    alignas(word_bytes) std::array<std::byte, window_bytes> copy;
    Random random(5);
    do {
      const std::uint64_t key = random.below(key_count);
      racy_copy(copy, test.index.memory().subspan(test.index.geometry().window_offset(tag_of(key)),
                                                  window_bytes));
      const Window window(copy);
      for (const Window::Candidate& found : window.find(tag_of(key), readers_pool_bytes)) {
        const std::uint64_t number = found.current.offset / 64;
        wrong += number % key_count != key || number / key_count < newest[key] || found.doubtful
                     ? 1u
                     : 0u;
        newest[key] = number / key_count;
        ++looked;
      }
    } while (!stop || looked == 0);
  });
  Random random(6);
  for (std::uint64_t version = 2; version < 20'000; ++version) {
    const std::uint64_t key = random.below(key_count);
    test.index.set_place(slots[key], 0, version_place(key, version));
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(looked, 0u);
}

// The owner inserts and releases: a reader may see words of two keys together, and tells by the
// object's own key.
TEST(IndexReaders, tell_a_reused_entry_by_the_key_of_the_object) {
  TestIndex test(4);
  std::atomic<bool> stop = false;
  std::uint64_t impossible = 0;
  std::thread reader([&] {
    alignas(word_bytes) std::array<std::byte, window_bytes> copy;
    do {
      racy_copy(copy, test.index.memory().first(window_bytes));
      const Window window(copy);
      for (const Tag tag : {Tag{1}, Tag{2}}) {
        for (const Window::Candidate& found : window.find(tag, readers_pool_bytes)) {
          const std::uint64_t number = found.current.offset / 64;
          impossible += number > 2 || found.doubtful ? 1u : 0u;
        }
      }
    } while (!stop);
  });
  for (std::uint64_t round = 0; round < 20'000; ++round) {
    const std::uint64_t number = 1 + round % 2;
    const IndexSlot slot = test.index.insert(number, 0, place_of(number));
    test.index.clear(slot);
    test.index.release(slot);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(impossible, 0u);
}

}  // namespace
}  // namespace remora::kv
