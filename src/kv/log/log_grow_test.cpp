// A store in a pool that was grown: it uses the new room, and loses nothing.
#include "kv/log/log_fixture.h"
#include "kv/log/survey.h"

namespace remora::kv {
namespace {

constexpr std::uint64_t small_bytes = 512 << 10;
constexpr std::uint64_t large_bytes = 2 << 20;

class LogGrow : public LogTest {
 protected:
  LogGrow() : LogTest(large_bytes) {
    log_.reset();
    pool_.reset();
    std::ranges::fill(region_.bytes(), std::byte{0});
    EXPECT_TRUE(region_.wait(region_.persist(region_.bytes())).ok());
    pool_ = std::move(Pool::create(region_, {}, Faults(), small_bytes)).value();
    log_ = std::move(Log::create(machine_.host, *pool_, options())).value();
  }
  // As many objects as there is room for; persistent. How many were added.
  std::size_t fill_up() {
    const std::uint64_t before = written_;
    while (try_put(key(written_), value(written_)).ok()) {
      ++written_;
    }
    seal();
    return written_ - before;
  }
  static std::string key(std::uint64_t number) { return "key-" + std::to_string(number); }
  static std::string value(std::uint64_t number) {
    return std::string(5000, static_cast<char>('a' + number % 26));
  }
  void expect_all() {
    ASSERT_EQ(found_.size(), written_);
    for (std::uint64_t i = 0; i < written_; ++i) {
      EXPECT_EQ(found_[i].key, key(i));
      EXPECT_TRUE(found_[i].intact);
    }
    EXPECT_TRUE(pool_->check_in_full().ok());
    const Survey survey = survey_store(region_.bytes(), pool_.get());
    EXPECT_TRUE(survey.findings.empty());
    EXPECT_EQ(survey.keys, written_);
  }
  std::uint64_t slots() {
    store_format::Head head;
    std::memcpy(&head, pool_->object(*pool_->root(store_format::root_name)).data(), sizeof head);
    return head.slot_count;
  }

  std::uint64_t written_ = 0;
};
INSTANTIATE_TEST_SUITE_P(media, LogGrow, both_media(), granularity_name);

TEST_P(LogGrow, a_full_store_has_room_in_a_pool_that_was_grown) {
  const std::size_t before = fill_up();
  EXPECT_EQ(slots(), small_bytes / (16 << 10));
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(slots(), small_bytes / (16 << 10)) << "the same pool has the same table";
  ASSERT_TRUE(pool_->grow(large_bytes).ok());
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(slots(), large_bytes / (16 << 10));
  expect_all();
  EXPECT_GT(fill_up(), 5 * before / 2);
  EXPECT_GT(log_->usage().total_bytes, large_bytes * 9 / 10);
  ASSERT_TRUE(restart().ok());
  expect_all();
  ASSERT_TRUE(restart().ok());
  expect_all();
}

TEST_P(LogGrow, it_grows_by_steps) {
  for (std::uint64_t size = small_bytes + (256 << 10); size <= large_bytes; size += 256 << 10) {
    EXPECT_GT(fill_up(), 0u) << size;
    ASSERT_TRUE(pool_->grow(size).ok());
    ASSERT_TRUE(restart().ok());
    expect_all();
    EXPECT_EQ(slots(), size / (16 << 10));
  }
}

TEST_P(LogGrow, segments_in_the_new_room_are_freed_and_used_again) {
  fill_up();
  ASSERT_TRUE(pool_->grow(large_bytes).ok());
  ASSERT_TRUE(restart().ok());
  fill_up();
  ASSERT_TRUE(restart().ok());
  EXPECT_TRUE(log_->keep_only({}).ok());
  region_.commit();
  ASSERT_TRUE(restart().ok());
  EXPECT_TRUE(found_.empty());
  EXPECT_EQ(log_->usage().segments, 0u);
  written_ = 0;
  const std::size_t again = fill_up();
  ASSERT_TRUE(restart().ok());
  expect_all();
  EXPECT_GT(again * 5000, large_bytes * 8 / 10);
}

// --- While the store is used ---

TEST_P(LogGrow, a_store_that_is_used_has_the_new_room_at_once) {
  const std::size_t before = fill_up();
  ASSERT_TRUE(pool_->grow(large_bytes).ok());
  ASSERT_TRUE(log_->pool_grew().ok());
  EXPECT_EQ(slots(), large_bytes / (16 << 10));
  EXPECT_GT(log_->usage().total_bytes, large_bytes * 9 / 10);
  EXPECT_GT(fill_up(), 5 * before / 2);
  ASSERT_TRUE(restart().ok());
  expect_all();
  EXPECT_LE(fill_up(), 3u) << "it had as much room as after an opening, but for a segment";
  ASSERT_TRUE(restart().ok());
  expect_all();
}

// On page media words of the table are still on their way when it is copied.
TEST_P(LogGrow, what_is_on_its_way_to_the_table_comes_to_the_larger_one) {
  for (std::uint64_t size = small_bytes + (256 << 10); size <= large_bytes; size += 256 << 10) {
    while (log_->usage().segments < size / (64 << 10)) {
      ASSERT_TRUE(try_put(key(written_), value(written_)).ok());
      ++written_;
    }
    ASSERT_TRUE(pool_->grow(size).ok());
    ASSERT_TRUE(try_put(key(written_), value(written_)).ok());
    ++written_;
    ASSERT_TRUE(log_->pool_grew().ok());
    ASSERT_TRUE(try_put(key(written_), value(written_)).ok());
    ++written_;
  }
  seal();
  ASSERT_TRUE(restart().ok());
  expect_all();
}

// Its room is counted as it is after an opening, whatever waits for the pool's log.
TEST_P(LogGrow, its_room_is_counted_beside_segments_that_were_freed) {
  fill_up();
  log_->begin_new_pool();
  ASSERT_TRUE(log_->end_old_pool().ok());
  seal();
  ASSERT_TRUE(log_->free_dead(1000).ok());
  ASSERT_TRUE(pool_->grow(large_bytes).ok());
  ASSERT_TRUE(log_->pool_grew().ok());
  written_ = 0;
  const std::size_t many = fill_up();
  EXPECT_GT(many * 5000, large_bytes * 8 / 10);
  ASSERT_TRUE(restart().ok());
  expect_all();
}

// Growths that leave almost a segment each: more than the reserve, all together.
class LogOfRests : public LogGrow {
 protected:
  LogOfRests() {
    const std::uint64_t reserve_bytes = log_->usage().reserve_bytes;
    const std::uint64_t segment_bytes = log_->segment_bytes();
    std::uint64_t size = small_bytes;
    for (int i = 0; i < 6; ++i) {
      size += 9 * pool_format::block_bytes;
      EXPECT_TRUE(pool_->grow(size).ok());
      const PoolPiece& piece = pool_->layout().pieces().back();
      rests_bytes_ += piece.block_count * pool_format::block_bytes % segment_bytes;
    }
    EXPECT_GT(rests_bytes_, 2 * reserve_bytes);
    EXPECT_TRUE(restart().ok());
  }
  std::uint64_t rests_bytes_ = 0;
};
INSTANTIATE_TEST_SUITE_P(media, LogOfRests, both_media(), granularity_name);

TEST_P(LogOfRests, puts_leave_whole_segments_to_deletions_and_to_cleaning) {
  EXPECT_GT(fill_up(), 3u * small_bytes / 4 / 5500);
  const auto take_with = [this](Reserve reserve) {
    const std::uint64_t before = log_->usage().segments;
    while (try_put(key(written_), value(written_), DataPool::current, reserve).ok()) {
      ++written_;
    }
    return log_->usage().segments - before;
  };
  EXPECT_GE(take_with(Reserve::may_use_half), 1u);
  const std::uint64_t in_rests = rests_bytes_ / log_->segment_bytes();
  EXPECT_GE(take_with(Reserve::may_use), 1 + in_rests) << "half a segment finds a place in each";
  seal();
  ASSERT_TRUE(restart().ok());
  expect_all();
}

TEST_P(LogOfRests, another_service_leaves_whole_segments_too) {
  fill_up();
  ASSERT_TRUE(log_->keep_only({}).ok());
  ASSERT_TRUE(pool_->close().ok());
  ASSERT_TRUE(restart().ok());
  written_ = 0;
  while (pool_->reserve(log_->segment_bytes(), Account::files).ok()) {
  }
  EXPECT_GE(pool_->whole_bytes(Account::store, log_->segment_bytes()), log_->usage().reserve_bytes);
  EXPECT_TRUE(try_put(key(0), value(0), DataPool::current, Reserve::may_use_half).ok());
}

TEST_P(LogGrow, a_growth_by_one_segment_has_no_room_for_one_and_by_two_it_has) {
  constexpr std::uint64_t segment_bytes = 64 << 10;
  log_.reset();
  pool_.reset();
  std::ranges::fill(region_.bytes(), std::byte{0});
  pool_ = std::move(Pool::create(region_, {}, Faults(), small_bytes)).value();
  log_ = std::move(Log::create(machine_.host, *pool_, {"test", segment_bytes})).value();
  fill_up();
  const std::uint64_t total_bytes = log_->usage().total_bytes;
  ASSERT_TRUE(pool_->grow(small_bytes + segment_bytes).ok());
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(fill_up(), 0u);
  EXPECT_LT(log_->usage().total_bytes, total_bytes + segment_bytes);
  ASSERT_TRUE(pool_->grow(small_bytes + 3 * segment_bytes).ok());
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(fill_up(), segment_bytes / 5120);
}

// All that is free is taken, and published: with it nothing of the class of the larger table is
// left, or of any larger one.
TEST_P(LogGrow, a_table_that_finds_no_room_stays_as_it_is) {
  fill_up();
  const std::uint64_t before = slots();
  ASSERT_TRUE(pool_->grow(large_bytes).ok());
  const auto take_all = [this](std::uint64_t size_bytes) {
    for (Result<Offset> taken = pool_->reserve(size_bytes, Account::store); taken.ok();
         taken = pool_->reserve(size_bytes, Account::store)) {
      Transaction transaction;
      ASSERT_TRUE(transaction.publish(*taken, 0).ok());
      ASSERT_TRUE(pool_->wait(*pool_->commit(transaction)).ok());
    }
  };
  take_all(64 << 10);
  take_all(pool_format::block_bytes);
  const std::uint64_t larger = store_format::most_slots(large_bytes, log_->segment_bytes());
  take_all(store_format::superblock_bytes(larger));
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(slots(), before);
  ASSERT_EQ(found_.size(), written_);
  expect_all();
}

}  // namespace
}  // namespace remora::kv
