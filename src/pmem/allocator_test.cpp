#include "pmem/allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <vector>

#include "base/random.h"
#include "pmem/pmem_testing.h"

namespace remora {
namespace {

using pool_format::block_bytes;

// An allocator over a pool's bytes that only the words of publish and retract change.
class AllocatorTest : public testing::Test {
 protected:
  explicit AllocatorTest(std::uint64_t size_bytes = 8 << 20)
      : header_(pool_format::plan(size_bytes, no_uuid)),
        pool_(header_.blocks),
        allocator_(header_) {
    EXPECT_TRUE(allocator_.load(pool_).ok());
  }

  Offset reserve(std::uint64_t size_bytes) {
    Result<Offset> offset = allocator_.reserve(size_bytes);
    EXPECT_TRUE(offset.ok()) << offset.status().message();
    return offset.ok() ? *offset : 0;
  }
  void publish(Offset offset) {
    WordSet words;
    allocator_.publish(offset, words);
    put_in_place(words);
  }
  void retract(Offset offset) {
    WordSet words;
    allocator_.retract(offset, words);
    put_in_place(words);
  }
  void put_in_place(const WordSet& words) {
    EXPECT_LE(words.size(), words_per_object);
    for (const pool_format::Write& write : words.writes()) {
      ASSERT_GE(write.place, header_.summary);
      ASSERT_LT(write.place, header_.blocks);
      store(pool_.data() + write.place, write.value);
    }
  }
  bool medium_is_blank() const {
    return std::ranges::all_of(pool_, [](std::byte byte) { return byte == std::byte{0}; });
  }

  const pool_format::Header header_;
  std::vector<std::byte> pool_;
  Allocator allocator_;
};

using Objects = std::map<Offset, std::uint64_t>;

Objects live_objects(const Allocator& allocator) {
  Objects objects;
  allocator.for_each_live([&objects](Offset offset, std::uint64_t capacity_bytes) {
    objects.emplace(offset, capacity_bytes);
  });
  return objects;
}

TEST_F(AllocatorTest, a_fresh_pool_is_all_free) {
  EXPECT_EQ(allocator_.free_blocks(), header_.block_count);
  EXPECT_EQ(allocator_.largest_free_run(), header_.block_count);
  EXPECT_EQ(allocator_.live_objects(), 0u);
}

TEST_F(AllocatorTest, reserved_space_is_held_and_not_live) {
  const Offset offset = reserve(100);
  EXPECT_TRUE(allocator_.is_reserved(offset));
  EXPECT_FALSE(allocator_.is_live(offset));
  EXPECT_EQ(offset % cache_line_bytes, 0u);
  EXPECT_EQ(allocator_.capacity_bytes(offset), 128u);
  EXPECT_TRUE(medium_is_blank());
}

TEST_F(AllocatorTest, a_published_object_is_live) {
  const Offset offset = reserve(100);
  publish(offset);
  EXPECT_TRUE(allocator_.is_live(offset));
  EXPECT_FALSE(allocator_.is_reserved(offset));
  EXPECT_EQ(allocator_.live_objects(), 1u);
  EXPECT_EQ(allocator_.live_bytes(), 128u);
}

TEST_F(AllocatorTest, a_retracted_object_is_neither_live_nor_reserved_nor_free) {
  const Offset offset = reserve(block_bytes);
  publish(offset);
  const std::uint64_t free_before = allocator_.free_blocks();
  retract(offset);
  EXPECT_FALSE(allocator_.is_live(offset));
  EXPECT_FALSE(allocator_.is_reserved(offset));
  EXPECT_EQ(allocator_.free_blocks(), free_before);
  EXPECT_NE(reserve(block_bytes), offset);
  EXPECT_EQ(allocator_.live_bytes(), 0u);
}

TEST_F(AllocatorTest, retracting_the_last_object_blanks_the_medium) {
  for (const std::uint64_t size_bytes : {64u, 192u, 4096u, 100'000u}) {
    const Offset offset = reserve(size_bytes);
    publish(offset);
    EXPECT_FALSE(medium_is_blank());
    retract(offset);
    EXPECT_TRUE(medium_is_blank()) << size_bytes;
  }
}

TEST_F(AllocatorTest, released_space_is_free_again) {
  for (const std::uint64_t size_bytes : {64u, 4096u, 7000u, 1u << 20}) {
    const Offset offset = reserve(size_bytes);
    publish(offset);
    retract(offset);
    allocator_.release(offset);
    EXPECT_EQ(allocator_.free_blocks(), header_.block_count);
    EXPECT_EQ(reserve(size_bytes), offset);
    allocator_.release(offset);
  }
}

TEST_F(AllocatorTest, cancelled_space_is_free_again) {
  const Offset offset = reserve(64);
  allocator_.release(offset);
  EXPECT_FALSE(allocator_.is_reserved(offset));
  EXPECT_EQ(allocator_.free_blocks(), header_.block_count);
}

TEST_F(AllocatorTest, a_slot_waits_for_its_release_though_its_chunk_has_other_objects) {
  const Offset first = reserve(2048);
  const Offset second = reserve(2048);
  EXPECT_EQ(second, first + 2048);
  publish(first);
  publish(second);
  retract(first);
  EXPECT_NE(reserve(2048), first);
  allocator_.release(first);
  EXPECT_EQ(reserve(2048), first);
}

TEST_F(AllocatorTest, every_size_class_fills_its_chunk_before_it_takes_another) {
  for (const SizeClass& size_class : size_classes) {
    const std::uint64_t free_before = allocator_.free_blocks();
    const Offset first = reserve(size_class.object_bytes);
    EXPECT_EQ(allocator_.free_blocks(), free_before - size_class.blocks);
    for (std::uint32_t i = 1; i < size_class.objects(); ++i) {
      const Offset next = reserve(size_class.object_bytes);
      EXPECT_EQ(next, first + i * size_class.object_bytes);
      publish(next);
    }
    EXPECT_EQ(allocator_.free_blocks(), free_before - size_class.blocks);
    EXPECT_EQ(allocator_.capacity_bytes(first), size_class.object_bytes);
    reserve(size_class.object_bytes);
    EXPECT_EQ(allocator_.free_blocks(), free_before - 2 * size_class.blocks);
  }
}

TEST_F(AllocatorTest, refuses_sizes_that_no_object_can_have) {
  EXPECT_EQ(allocator_.reserve(0).code(), Code::invalid_argument);
  EXPECT_EQ(allocator_.reserve(largest_object_bytes + 1).code(), Code::invalid_argument);
  EXPECT_EQ(allocator_.reserve(~std::uint64_t{0}).code(), Code::invalid_argument);
}

TEST_F(AllocatorTest, a_full_pool_says_so) {
  EXPECT_EQ(allocator_.reserve(16 << 20).code(), Code::no_space);
  while (allocator_.reserve(block_bytes).ok()) {
  }
  EXPECT_EQ(allocator_.free_blocks(), 0u);
  EXPECT_EQ(allocator_.reserve(64).code(), Code::no_space);
}

TEST_F(AllocatorTest, knows_the_object_that_a_byte_belongs_to) {
  const Offset small = reserve(192);
  const Offset second = reserve(192);
  const Offset run = reserve(10'000);
  EXPECT_EQ(allocator_.object_at(small), small);
  EXPECT_EQ(allocator_.object_at(small + 191), small);
  EXPECT_EQ(allocator_.object_at(second + 8), second);
  EXPECT_EQ(allocator_.object_at(run + 12'287), run);
  EXPECT_EQ(allocator_.object_at(run + 12'288), 0u);
}

TEST_F(AllocatorTest, places_outside_of_the_blocks_are_no_objects) {
  reserve(64);
  const Offset end = header_.blocks + header_.block_count * block_bytes;
  for (const Offset offset : {Offset{0}, Offset{64}, header_.blocks - 8, end, ~Offset{0}}) {
    EXPECT_EQ(allocator_.object_at(offset), 0u);
    EXPECT_FALSE(allocator_.is_reserved(offset));
    EXPECT_FALSE(allocator_.is_live(offset));
  }
}

TEST_F(AllocatorTest, the_middle_of_an_object_is_no_object) {
  const Offset small = reserve(192);
  const Offset run = reserve(10'000);
  publish(small);
  publish(run);
  EXPECT_FALSE(allocator_.is_live(small + 64));
  EXPECT_FALSE(allocator_.is_live(run + block_bytes));
}

using AllocatorDeathTest = AllocatorTest;

TEST_F(AllocatorDeathTest, notices_misuse) {
  const Offset offset = reserve(64);
  WordSet words;
  const auto aborts = testing::KilledBySignal(SIGABRT);
  EXPECT_EXIT(allocator_.retract(offset, words), aborts, "not live");
  publish(offset);
  EXPECT_EXIT(allocator_.publish(offset, words), aborts, "not reserved");
  EXPECT_EXIT(allocator_.release(offset), aborts, "not held");
  EXPECT_EXIT(allocator_.release(offset + 8), aborts, "no object");
  EXPECT_EXIT((void)allocator_.capacity_bytes(0), aborts, "no object");
}

TEST(WordSet, a_later_value_replaces_the_earlier) {
  WordSet words;
  words.put(8, 1);
  words.put(16, 2);
  words.put(8, 3);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words.writes()[0].value, 3u);
  EXPECT_EQ(words.writes()[1].value, 2u);
}

// Random churn against a model that knows only offsets, sizes and states.
class AllocatorChurn : public AllocatorTest {
 protected:
  enum class State { reserved, live, retracted };
  struct Held {
    std::uint64_t size_bytes;
    State state;
  };

  std::uint64_t random_size() {
    switch (random_.below(4)) {
      case 0:
        return random_.between(1, 512);
      case 1:
        return random_.between(1, 8192);
      case 2:
        return random_.between(1, 200'000);
      default:
        return size_classes[random_.below(size_classes.size())].object_bytes;
    }
  }

  void reserve_one() {
    const std::uint64_t size_bytes = random_size();
    Result<Offset> offset = allocator_.reserve(size_bytes);
    if (!offset.ok()) {
      ASSERT_EQ(offset.code(), Code::no_space);
      return;
    }
    const std::uint64_t capacity = allocator_.capacity_bytes(*offset);
    ASSERT_GE(capacity, size_bytes);
    ASSERT_GE(*offset, header_.blocks);
    ASSERT_LE(*offset + capacity, header_.blocks + header_.block_count * block_bytes);
    const auto next = held_.lower_bound(*offset);
    ASSERT_TRUE(next == held_.end() || *offset + capacity <= next->first);
    if (next != held_.begin()) {
      const Offset before = std::prev(next)->first;
      ASSERT_LE(before + allocator_.capacity_bytes(before), *offset);
    }
    held_.emplace(*offset, Held{size_bytes, State::reserved});
  }

  void advance_one() {
    auto chosen = held_.lower_bound(random_.between(header_.blocks, header_.size_bytes));
    if (chosen == held_.end()) {
      return;
    }
    Held& held = chosen->second;
    const bool cancel = held.state == State::reserved && random_.chance(1, 4);
    if (cancel || held.state == State::retracted) {
      allocator_.release(chosen->first);
      held_.erase(chosen);
    } else if (held.state == State::reserved) {
      publish(chosen->first);
      held.state = State::live;
    } else {
      retract(chosen->first);
      held.state = State::retracted;
    }
  }

  Objects model() const {
    Objects live;
    for (const auto& [offset, held] : held_) {
      EXPECT_EQ(allocator_.is_reserved(offset), held.state == State::reserved);
      EXPECT_EQ(allocator_.is_live(offset), held.state == State::live);
      if (held.state == State::live) {
        live.emplace(offset, allocator_.capacity_bytes(offset));
      }
    }
    return live;
  }

  // What the medium says, read by an allocator that knows nothing else.
  void expect_medium_agrees() {
    Allocator fresh(header_);
    const Status status = fresh.load(pool_);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(live_objects(fresh), model());
    ASSERT_EQ(live_objects(allocator_), model());
    ASSERT_EQ(fresh.live_bytes(), allocator_.live_bytes());
    ASSERT_EQ(fresh.live_objects(), allocator_.live_objects());
    ASSERT_GE(fresh.free_blocks(), allocator_.free_blocks());
  }

  Random random_{7};
  std::map<Offset, Held> held_;
};

TEST_F(AllocatorChurn, never_overlaps_and_load_rebuilds_what_is_live) {
  for (int round = 0; round < 60; ++round) {
    for (int step = 0; step < 300; ++step) {
      ASSERT_NO_FATAL_FAILURE(random_.chance(2, 5) ? reserve_one() : advance_one());
    }
    ASSERT_NO_FATAL_FAILURE(expect_medium_agrees());
  }
}

TEST_F(AllocatorChurn, everything_comes_back_in_the_end) {
  for (int step = 0; step < 5000; ++step) {
    ASSERT_NO_FATAL_FAILURE(random_.chance(1, 2) ? reserve_one() : advance_one());
  }
  for (const auto& [offset, held] : held_) {
    if (held.state == State::live) {
      retract(offset);
    }
    allocator_.release(offset);
  }
  EXPECT_EQ(allocator_.free_blocks(), header_.block_count);
  EXPECT_EQ(allocator_.largest_free_run(), header_.block_count);
  EXPECT_TRUE(medium_is_blank());
}

TEST_F(AllocatorChurn, a_rebuilt_allocator_goes_on_where_the_other_was) {
  for (int step = 0; step < 2000; ++step) {
    ASSERT_NO_FATAL_FAILURE(random_.chance(1, 2) ? reserve_one() : advance_one());
  }
  const Objects before = model();
  Allocator fresh(header_);
  ASSERT_TRUE(fresh.load(pool_).ok());
  for (int i = 0; i < 500; ++i) {
    Result<Offset> offset = fresh.reserve(random_size());
    if (offset.ok()) {
      const auto next = before.lower_bound(*offset);
      ASSERT_TRUE(next == before.end() || *offset + fresh.capacity_bytes(*offset) <= next->first);
      ASSERT_TRUE(next == before.begin() ||
                  std::prev(next)->first + std::prev(next)->second <= *offset);
    }
  }
}

}  // namespace
}  // namespace remora
