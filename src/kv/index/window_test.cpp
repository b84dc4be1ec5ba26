#include "kv/index/window.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "kv/index/index_testing.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t window_pool_bytes = 1 << 20;

Window read(const TestIndex& test, Tag tag) {
  return Window(
      test.index.memory().subspan(test.index.geometry().window_offset(tag), window_bytes));
}

TEST(Window, shows_the_places_of_a_key) {
  TestIndex test;
  const IndexSlot slot = test.insert(5);
  test.index.set_place(slot, 1, place_of(9));
  const Window window = read(test, test.tag(5));
  const auto found = window.find(test.tag(5), window_pool_bytes);
  ASSERT_EQ(found.count(), 1u);
  EXPECT_EQ((*found.begin()).current.offset, 5u * 64);
  EXPECT_EQ((*found.begin()).other.offset, 9u * 64);
  EXPECT_FALSE((*found.begin()).doubtful);
}

TEST(Window, follows_the_mark) {
  TestIndex test;
  const IndexSlot slot = test.insert(5);
  test.index.set_place(slot, 1, place_of(9));
  test.index.set_mark(slot, 1);
  const Window window = read(test, test.tag(5));
  const auto found = window.find(test.tag(5), window_pool_bytes);
  ASSERT_EQ(found.count(), 1u);
  EXPECT_EQ((*found.begin()).current.offset, 9u * 64);
}

TEST(Window, is_empty_for_a_key_that_is_not_there) {
  TestIndex test;
  test.insert(5);
  const Window window = read(test, test.tag(6));
  EXPECT_TRUE(window.find(test.tag(6), window_pool_bytes).empty());
  EXPECT_TRUE(window.find(0, window_pool_bytes).empty());
}

TEST(Window, shows_both_keys_that_share_a_tag) {
  TestIndex test;
  test.index.insert(77, 0, place_of(1));
  test.index.insert(77, 0, place_of(2));
  const Window window = read(test, 77);
  EXPECT_EQ(window.find(77, window_pool_bytes).count(), 2u);
}

TEST(Window, is_full_when_keys_of_it_may_have_spilled) {
  TestIndex test(4);
  for (Tag tag = 1; tag <= 8; ++tag) {
    EXPECT_FALSE(read(test, 1).full());
    test.index.insert(tag, 0, place_of(tag));
  }
  EXPECT_TRUE(read(test, 1).full());
}

TEST(Window, believes_no_place_outside_of_the_pool) {
  TestIndex test;
  test.index.insert(77, 0, encode(Place{window_pool_bytes, 64, false, false}));
  const Window window = read(test, 77);
  const auto found = window.find(77, window_pool_bytes);
  ASSERT_EQ(found.count(), 1u);
  EXPECT_EQ((*found.begin()).current, Place{});
  EXPECT_TRUE((*found.begin()).doubtful);
}

TEST(Window, takes_any_bytes) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    std::array<std::uint64_t, window_bytes / word_bytes> words;
    for (std::uint64_t& word : words) {
      word = random.next();
    }
    const Tag tag = words[random.below(window_entries) * 4];
    const Window window(std::as_bytes(std::span(words)));
    const auto found = window.find(tag, window_pool_bytes);
    ASSERT_GE(found.count(), 1u);
    for (const Window::Candidate& candidate : found) {
      for (const Place& place : {candidate.current, candidate.other}) {
        ASSERT_TRUE(place == Place{} || lies_within(place, window_pool_bytes));
      }
    }
  }
}

}  // namespace
}  // namespace remora::kv
