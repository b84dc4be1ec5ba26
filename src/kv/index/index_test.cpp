#include "kv/index/index.h"

#include <gtest/gtest.h>

#include "kv/index/index_testing.h"
#include "kv/index/window.h"

namespace remora::kv {
namespace {

TEST(Index, finds_what_was_inserted_and_nothing_else) {
  TestIndex test;
  for (std::uint64_t number = 1; number <= 40; ++number) {
    test.insert(number);
  }
  EXPECT_EQ(test.index.size(), 40u);
  for (std::uint64_t number = 1; number <= 40; ++number) {
    ASSERT_TRUE(test.find(number));
    EXPECT_EQ(test.find(number).place(0).offset, number * 64);
  }
  EXPECT_FALSE(test.find(41));
}

TEST(Index, a_tag_is_never_zero_and_depends_on_the_seed) {
  const IndexGeometry one{1, 16};
  const IndexGeometry two{2, 16};
  EXPECT_NE(one.tag(as_bytes("key")), 0u);
  EXPECT_NE(one.tag(as_bytes("key")), two.tag(as_bytes("key")));
}

TEST(Index, two_keys_with_one_tag_are_told_apart_by_the_caller) {
  TestIndex test;
  const Tag shared = 0x1234567812345678;
  test.index.insert(shared, 0, place_of(1));
  test.index.insert(shared, 0, place_of(2));
  const IndexSlot first = test.index.find(shared, is_key(1));
  const IndexSlot second = test.index.find(shared, is_key(2));
  ASSERT_TRUE(first && second);
  EXPECT_NE(first, second);
  EXPECT_FALSE(test.index.find(shared, is_key(3)));
}

TEST(Index, places_and_mark_change_one_by_one) {
  TestIndex test;
  const IndexSlot slot = test.insert(3);
  test.index.set_place(slot, 1, place_of(5));
  EXPECT_EQ(slot.place(0).offset, 3u * 64);
  EXPECT_EQ(slot.place(1).offset, 5u * 64);
  EXPECT_EQ(slot.mark(), 0u);
  test.index.set_mark(slot, 1);
  test.index.set_place(slot, 0, 0);
  EXPECT_EQ(slot.mark(), 1u);
  EXPECT_EQ(slot.place_word(0), 0u);
}

TEST(Index, a_cleared_entry_is_absent_and_serves_only_its_own_tag) {
  TestIndex test(4);
  const Tag tag = 1;
  const IndexSlot first = test.index.insert(tag, 0, place_of(1));
  test.index.clear(first);
  EXPECT_FALSE(test.index.find(tag, is_key(1)));
  EXPECT_NE(test.index.insert(tag + 1, 0, place_of(2)), first);
  EXPECT_EQ(test.index.insert(tag, 0, place_of(3)), first);
}

TEST(Index, a_released_entry_serves_any_tag) {
  TestIndex test(4);
  const IndexSlot first = test.index.insert(1, 0, place_of(1));
  test.index.clear(first);
  test.index.release(first);
  EXPECT_EQ(test.index.size(), 0u);
  EXPECT_EQ(test.index.insert(2, 0, place_of(2)), first);
}

TEST(Index, a_full_window_overflows_and_nothing_is_lost) {
  TestIndex test(4);
  for (std::uint64_t number = 1; number <= 12; ++number) {
    test.index.insert(number, 0, place_of(number));  // small tags: all in window 0
  }
  EXPECT_EQ(test.index.overflowed(), 4u);
  for (std::uint64_t number = 1; number <= 12; ++number) {
    EXPECT_TRUE(test.index.find(number, is_key(number))) << number;
  }
  const IndexSlot last = test.index.find(12, is_key(12));
  test.index.clear(last);
  test.index.release(last);
  EXPECT_EQ(test.index.overflowed(), 3u);
  EXPECT_FALSE(test.index.find(12, is_key(12)));
}

Window spill_window(const TestIndex& test, Tag tag) {
  return Window(test.index.memory().subspan(test.index.geometry().spill_offset(tag), window_bytes));
}

TEST(Index, a_key_that_overflows_is_in_its_spill_window_while_there_is_room) {
  TestIndex test(64);  // with two spill windows, and 1 to 64 in one window
  ASSERT_EQ(test.index.geometry().spill_windows(), 2u);
  const std::uint64_t last = 8 + 2 * 8 + 3;
  for (std::uint64_t number = 1; number <= last; ++number) {
    test.index.insert(number, 0, place_of(number));
  }
  for (std::uint64_t number = 9; number <= last; ++number) {
    const Window window = spill_window(test, number);
    ASSERT_EQ(window.find(number, 1 << 20).count(), number <= 24 ? 1u : 0u) << number;
    EXPECT_TRUE(test.index.find(number, is_key(number)));
  }
  // Changes are seen there, and the entry serves another key afterwards.
  const IndexSlot slot = test.index.find(10, is_key(10));
  test.index.set_place(slot, 0, place_of(99));
  const Window changed = spill_window(test, 10);
  EXPECT_EQ((*changed.find(10, 1 << 20).begin()).current.offset, 99u * 64);
  test.index.clear(slot);
  test.index.release(slot);
  const Window freed = spill_window(test, 10);
  EXPECT_TRUE(freed.find(10, 1 << 20).empty());
  test.index.insert(30, 0, place_of(30));
  const Window taken = spill_window(test, 30);
  EXPECT_EQ(taken.find(30, 1 << 20).count(), 1u);
}

TEST(Index, is_crowded_at_three_keys_to_a_window_or_when_many_overflow) {
  TestIndex full(16);
  for (std::uint64_t number = 1; number <= 48; ++number) {
    EXPECT_FALSE(full.index.size() <= 40 && full.index.crowded());
    full.insert(number);
  }
  full.insert(49);
  EXPECT_TRUE(full.index.crowded());
  TestIndex uneven(1024);
  for (std::uint64_t number = 1; number <= 8 + 16 + 5; ++number) {
    EXPECT_FALSE(uneven.index.crowded());
    uneven.index.insert(number, 0, place_of(number));
  }
  EXPECT_TRUE(uneven.index.crowded());
}

TEST(Index, a_scan_meets_every_entry_with_a_place) {
  TestIndex test(16);
  std::set<std::uint64_t> expected;
  for (std::uint64_t number = 1; number <= 120; ++number) {
    test.insert(number);
    expected.insert(number);
  }
  test.index.clear(test.find(17));
  expected.erase(17);
  EXPECT_GT(test.index.overflowed(), 0u);
  EXPECT_EQ(test.scanned(), expected);
  EXPECT_EQ(test.scanned(1), expected);
}

TEST(IndexFormat, sizes_a_table_by_its_keys) {
  EXPECT_EQ(windows_for(0), 4u);
  EXPECT_EQ(windows_for(1024), 512u);
  EXPECT_GE(windows_for(1'000'000) * window_entries, 2'000'000u);
}

TEST(IndexFormat, refuses_a_geometry_that_cannot_be) {
  EXPECT_TRUE((IndexGeometry{1, 4}).plausible());
  for (const std::uint64_t windows : {0ull, 1ull, 2ull, 12ull, 1ull << 41}) {
    EXPECT_FALSE((IndexGeometry{1, windows}).plausible()) << windows;
  }
}

}  // namespace
}  // namespace remora::kv
