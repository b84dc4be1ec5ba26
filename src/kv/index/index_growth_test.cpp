#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "kv/index/index_testing.h"

namespace remora::kv {
namespace {

TEST(IndexGrowth, carries_everything_to_twice_the_windows) {
  TestIndex test(8);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    test.insert(number);
  }
  test.begin_growth();
  while (!test.index.grow(1)) {
  }
  test.end_growth();
  EXPECT_EQ(test.index.geometry().windows, 16u);
  EXPECT_EQ(test.index.size(), 100u);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    EXPECT_TRUE(test.find(number)) << number;
  }
}

TEST(IndexGrowth, drops_entries_without_places) {
  TestIndex test(8);
  test.index.clear(test.insert(1));
  test.insert(2);
  test.begin_growth();
  EXPECT_TRUE(test.index.grow(100));
  test.end_growth();
  EXPECT_EQ(test.index.size(), 1u);
}

TEST(IndexGrowth, is_bounded_by_the_windows_that_it_is_told) {
  TestIndex test(8);
  test.begin_growth();
  EXPECT_FALSE(test.index.grow(7));
  EXPECT_TRUE(test.index.grow(1));
}

TEST(IndexGrowth, peers_go_on_with_the_old_table_until_the_end) {
  TestIndex test(8);
  test.begin_growth();
  test.index.grow(4);
  EXPECT_EQ(test.index.memory().data(), Bytes(*test.memory).data());
  EXPECT_EQ(test.index.geometry().windows, 8u);
}

TEST(IndexGrowth, a_scan_goes_on_across_it) {
  TestIndex test(8);
  for (std::uint64_t number = 1; number <= 60; ++number) {
    test.insert(number);
  }
  std::set<std::uint64_t> seen;
  const auto see = [&](IndexSlot slot) { seen.insert(slot.place(0).offset / 64); };
  Tag from = test.index.scan(0, 20, see);
  test.begin_growth();
  EXPECT_TRUE(test.index.grow(100));
  test.end_growth();
  while (from != 0) {
    from = test.index.scan(from, 20, see);
  }
  EXPECT_EQ(seen.size(), 60u);
}

// What a map does, the index does, whatever happens in the middle of a growth. Tags are few, so
// that keys share them and windows overflow.
class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void step() {
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
        return grow();
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
    }
  }
  void grow() {
    if (!test_.index.growing()) {
      if (test_.index.geometry().windows < 64) {
        test_.begin_growth();
      }
    } else if (test_.index.grow(random_.below(4)) && random_.chance(1, 3)) {
      test_.end_growth();
    }
  }

  Random random_;
  TestIndex test_{4};
  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_place_ = 0;
};

TEST(IndexGrowth, changes_in_its_middle_are_in_both_tables) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Model model(seed);
    for (int step = 0; step < 250; ++step) {
      model.step();
    }
    model.check();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace remora::kv
