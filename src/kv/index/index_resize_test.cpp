#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "base/random.h"
#include "kv/index/index_testing.h"

namespace remora::kv {
namespace {

TEST(IndexResize, carries_everything_to_twice_the_windows) {
  TestIndex test(8);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    test.insert(number);
  }
  test.begin_growth();
  while (!test.index.resize(1)) {
  }
  test.end_resize();
  EXPECT_EQ(test.index.geometry().windows, 16u);
  EXPECT_EQ(test.index.size(), 100u);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    EXPECT_TRUE(test.find(number)) << number;
  }
}

TEST(IndexResize, drops_entries_without_places) {
  TestIndex test(8);
  test.index.clear(test.insert(1));
  test.insert(2);
  test.begin_growth();
  EXPECT_TRUE(test.index.resize(100));
  test.end_resize();
  EXPECT_EQ(test.index.size(), 1u);
}

TEST(IndexResize, is_bounded_by_the_windows_that_it_is_told) {
  TestIndex test(8);
  test.begin_growth();
  EXPECT_FALSE(test.index.resize(7));
  EXPECT_TRUE(test.index.resize(1));
}

TEST(IndexResize, peers_go_on_with_the_old_table_until_the_end) {
  TestIndex test(8);
  test.begin_growth();
  test.index.resize(4);
  EXPECT_EQ(test.index.memory().data(), Bytes(*test.memory).data());
  EXPECT_EQ(test.index.geometry().windows, 8u);
}

TEST(IndexResize, a_scan_goes_on_across_it) {
  TestIndex test(8);
  for (std::uint64_t number = 1; number <= 60; ++number) {
    test.insert(number);
  }
  std::set<std::uint64_t> seen;
  const auto see = [&](IndexSlot slot) { seen.insert(slot.place(0).offset / 64); };
  Tag from = test.index.scan(0, 20, see);
  test.begin_growth();
  EXPECT_TRUE(test.index.resize(100));
  test.end_resize();
  while (from != 0) {
    from = test.index.scan(from, 20, see);
  }
  EXPECT_EQ(seen.size(), 60u);
}

TEST(IndexResize, carries_everything_to_few_windows) {
  TestIndex test(64);
  for (std::uint64_t number = 1; number <= 40; ++number) {
    test.insert(number);
  }
  test.begin_resize(4);
  while (!test.index.resize(1)) {
  }
  test.end_resize();
  EXPECT_EQ(test.index.size(), 40u);
  EXPECT_GT(test.index.overflowed(), 0u);
  for (std::uint64_t number = 1; number <= 40; ++number) {
    EXPECT_TRUE(test.find(number)) << number;
  }
  EXPECT_EQ(test.scanned().size(), 40u);
}

TEST(IndexResize, a_table_that_is_nearly_empty_should_be_smaller_but_never_too_small) {
  TestIndex test(256);
  for (std::uint64_t number = 1; number <= 96; ++number) {
    test.insert(number);
  }
  EXPECT_EQ(test.index.fitting_windows(4), 256u);
  TestIndex nearly(256);
  for (std::uint64_t number = 1; number < 96; ++number) {
    nearly.insert(number);
  }
  EXPECT_EQ(nearly.index.fitting_windows(4), 64u);
  EXPECT_EQ(nearly.index.fitting_windows(128), 128u);
  EXPECT_EQ(nearly.index.fitting_windows(256), 256u);
  EXPECT_EQ(TestIndex(256).index.fitting_windows(4), 4u);
}

TEST(IndexResize, an_empty_table_takes_the_place_of_both) {
  TestIndex test(8);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    test.insert(number);
  }
  const std::uint64_t before = test.index.generation();
  test.begin_resize(16);
  EXPECT_FALSE(test.index.resize(3));
  TableMemory fresh(test.index.resized(4).table_bytes());
  EXPECT_EQ(test.index.replace(test.index.resized(4), fresh).data(), Bytes(*test.memory).data());
  EXPECT_FALSE(test.index.resizing());
  EXPECT_NE(test.index.generation(), before);
  EXPECT_EQ(test.index.size(), 0u);
  EXPECT_EQ(test.index.overflowed(), 0u);
  EXPECT_TRUE(test.scanned().empty());
  test.insert(7);
  EXPECT_TRUE(test.find(7));
}

TEST(IndexResize, can_be_given_up) {
  TestIndex test(8);
  for (std::uint64_t number = 1; number <= 50; ++number) {
    test.insert(number);
  }
  test.begin_resize(32);
  EXPECT_FALSE(test.index.resize(3));
  test.index.cancel_resize();
  EXPECT_FALSE(test.index.resizing());
  test.insert(51);
  EXPECT_EQ(test.scanned().size(), 51u);
}

// As many keys must come, or go, between two changes: no size is left for the one before.
TEST(IndexResize, sizes_do_not_flap) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    TestIndex test(4, seed);
    Random random(seed);
    std::uint64_t last_number = 0;
    std::uint64_t changes = 0;
    std::uint64_t keys_at_change = 0;
    std::deque<std::uint64_t> there;
    bool fills = true;
    for (int step = 0; step < 20'000; ++step) {
      fills = there.empty() || (random.chance(1, 2'000) ? !fills : fills);
      if (random.chance(fills ? 3 : 1, 4) || there.empty()) {
        test.insert(++last_number);
        there.push_back(last_number);
      } else {
        const IndexSlot slot = test.find(there.front());
        test.index.clear(slot);
        test.index.release(slot);
        there.pop_front();
      }
      const std::uint64_t windows = test.index.fitting_windows(4);
      if (windows != test.index.geometry().windows) {
        const std::uint64_t keys = there.size();
        const bool is_far = keys >= 2 * keys_at_change * 3 / 4 || 2 * keys <= keys_at_change + 6;
        ASSERT_TRUE(changes == 0 || is_far || test.index.overflowed() > windows / 64)
            << "seed " << seed << ": " << keys_at_change << " keys, then " << keys;
        test.begin_resize(windows);
        while (!test.index.resize(7)) {
        }
        test.end_resize();
        keys_at_change = keys;
        ++changes;
      }
    }
    EXPECT_GT(changes, 4u);
  }
}

// What a map does, the index does, whatever happens in the middle of a change of its size. Tags are
// few, so that keys share them and windows overflow.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void step() {
    if (random_.chance(1, 3)) {
      scan();
    }
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2:
        return add();
      case 3:
        return move();
      case 4:
        return mark();
      case 5:
        return remove();
      default:
        return resize();
    }
  }

  void check() {
    std::set<std::uint64_t> expected;
    for (const auto& [number, entry] : entries_) {
      const IndexSlot slot = find(number);
      ASSERT_TRUE(slot) << number;
      ASSERT_EQ(slot.place_word(0), entry.places[0]);
      ASSERT_EQ(slot.place_word(1), entry.places[1]);
      ASSERT_EQ(slot.mark(), entry.mark);
    }
    std::uint64_t scanned = 0;
    Tag from = 0;
    do {
      from = test_.index.scan(from, 7, [&](IndexSlot) { ++scanned; });
    } while (from != 0);
    ASSERT_EQ(scanned, entries_.size());
  }

  std::uint64_t scans() const { return scans_; }

 private:
  struct Entry {
    Tag tag;
    std::array<std::uint64_t, 2> places;
    std::size_t mark;
  };

  IndexSlot find(std::uint64_t number) {
    const Entry& entry = entries_.at(number);
    return test_.index.find(entry.tag, [&](IndexSlot slot) {
      return slot.place_word(0) == entry.places[0] && slot.place_word(1) == entry.places[1];
    });
  }
  std::uint64_t any() {
    auto at = entries_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(random_.below(entries_.size())));
    return at->first;
  }
  std::uint64_t fresh_place() { return place_of(++last_place_); }

  void add() {
    const std::uint64_t number = ++last_number_;
    Entry entry{mix(random_.below(40)), {0, 0}, random_.below(2)};
    entry.places[entry.mark] = fresh_place();
    test_.index.insert(entry.tag, entry.mark, entry.places[entry.mark]);
    entries_[number] = entry;
  }
  void move() {
    if (!entries_.empty()) {
      const std::uint64_t number = any();
      const std::size_t which = random_.below(2);
      const IndexSlot slot = find(number);
      const std::uint64_t place = fresh_place();
      test_.index.set_place(slot, which, place);
      entries_.at(number).places[which] = place;
    }
  }
  void mark() {
    if (!entries_.empty()) {
      const std::uint64_t number = any();
      test_.index.set_mark(find(number), 1 - entries_.at(number).mark);
      entries_.at(number).mark = 1 - entries_.at(number).mark;
    }
  }
  void remove() {
    if (!entries_.empty()) {
      const std::uint64_t number = any();
      const IndexSlot slot = find(number);
      test_.index.clear(slot);
      if (random_.chance(1, 2)) {
        test_.index.release(slot);
      }
      entries_.erase(number);
      due_.erase(number);
    }
  }
  // Entries that are there from the first call to the last are given; others may be.
  void scan() {
    if (cursor_ == 0) {
      for (const auto& [number, entry] : entries_) {
        due_.insert(number);
      }
    }
    cursor_ = test_.index.scan(cursor_, 1 + random_.below(6), [this](IndexSlot slot) {
      for (const auto& [number, entry] : entries_) {
        if (slot.place_word(0) == entry.places[0] && slot.place_word(1) == entry.places[1]) {
          due_.erase(number);
        }
      }
    });
    if (cursor_ == 0) {
      EXPECT_TRUE(due_.empty()) << "a scan has not given " << *due_.begin();
      ++scans_;
    }
  }
  void resize() {
    if (!test_.index.resizing()) {
      test_.begin_resize(std::uint64_t{4} << random_.below(5));
    } else if (test_.index.resize(random_.below(4)) && random_.chance(1, 3)) {
      test_.end_resize();
    }
  }

  Random random_;
  TestIndex test_{4};
  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_place_ = 0;
  Tag cursor_ = 0;
  std::set<std::uint64_t> due_;  // what the scan that is under way has still to give
  std::uint64_t scans_ = 0;
};

TEST(IndexResize, changes_in_its_middle_are_in_both_tables) {
  std::uint64_t scans = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Model model(seed);
    for (int step = 0; step < 250; ++step) {
      model.step();
    }
    model.check();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
    scans += model.scans();
  }
  EXPECT_GT(scans, 1000u);
}

}  // namespace
}  // namespace remora::kv
