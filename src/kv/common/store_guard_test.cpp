// What one client may do to the pool by itself, asked of the guard directly.
#include "kv/common/store_guard.h"

#include <gtest/gtest.h>

#include "kv/log/log_fixture.h"

namespace remora::kv {
namespace {

using fabric::RemoteAccess;

class StoreGuardTest : public LogTest {
 protected:
  StoreGuardTest() : first_block_(pool_->header().blocks), readable_(*log_) {}

  StoreGuard guard(StoreGuard::Closing closing = StoreGuard::Closing::when_durable) {
    return {*log_, readable_, first_block_, closing};
  }
  Object append(std::string_view key, std::string_view value) {
    const Result<Placed> placed =
        log_->append(new_object(as_bytes(key), as_bytes(value), ++sequence_));
    REMORA_CHECK(placed.ok(), "there is room");
    return log_->at(placed->offset);
  }
  RemoteAccess at(fabric::AccessFlags rights, Offset offset, std::uint64_t size_bytes,
                  const char* payload = nullptr) const {
    return {rights, offset - first_block_, size_bytes, reinterpret_cast<const std::byte*>(payload)};
  }
  static Offset value_of(const Object& object) {
    return object.offset() + object_format::value_begin(object.key().size());
  }

  const Offset first_block_;
  ReadableSpace readable_;
};

INSTANTIATE_TEST_SUITE_P(media, StoreGuardTest, testing::Values(Granularity::cache_line),
                         granularity_name);

TEST_P(StoreGuardTest, lets_a_client_write_the_values_that_it_was_granted) {
  StoreGuard mine = guard();
  StoreGuard theirs = guard();
  const Object object = append("key", "a value");
  const Offset value = value_of(object);
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, value, 7, "a value")));
  mine.open(object);
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value, 7)));
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value, 7, "a value")));
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value + 2, 5, "value")));
  EXPECT_TRUE(mine.allows(at(fabric::flush_visibility, value, 7)));
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, value, 8, "a value.")));
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, value - 1, 1, "x")));
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, object.offset(), 8, "a header")));
  EXPECT_FALSE(mine.allows(at(fabric::flush_visibility, object.offset(), 8)));
  EXPECT_FALSE(theirs.allows(at(fabric::remote_write, value, 7, "a value")));
  EXPECT_FALSE(theirs.allows(at(fabric::flush_visibility, value, 7)));
  EXPECT_FALSE(theirs.allows(at(fabric::remote_atomic, value, 8)));
}

// The value may be whole before it was written, by bytes that were there.
TEST_P(StoreGuardTest, takes_the_same_bytes_for_a_value_that_is_durable_and_no_others) {
  StoreGuard mine = guard();
  const Object object = append("key", "a value");
  const Offset value = value_of(object);
  mine.open(object);
  std::ranges::copy(as_bytes("a value"), object.value().begin());
  log_->note_durable(object);
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value, 7)));
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value, 7, "a value")));
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value + 2, 5, "value")));
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, value, 7, "b value")));
  EXPECT_FALSE(mine.allows(at(fabric::remote_atomic, value, 7, "a value")));
  EXPECT_TRUE(mine.allows(at(fabric::flush_visibility, value, 7)));
}

TEST_P(StoreGuardTest, closes_a_grant_when_told) {
  StoreGuard mine = guard(StoreGuard::Closing::when_told);
  const Object object = append("key", "a value");
  mine.open(object);
  log_->note_durable(object);
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value_of(object), 7, "b value")));
  mine.close(object.offset());
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, value_of(object), 7, "b value")));
  EXPECT_TRUE(mine.has(object.offset()));
  EXPECT_FALSE(mine.has(value_of(object)));
}

TEST_P(StoreGuardTest, a_version_that_was_given_up_stays_open_until_its_client_has_arrived) {
  StoreGuard mine = guard();
  const Object object = append("key", "a value");
  mine.open(object);
  log_->note_invalid(object);
  EXPECT_TRUE(mine.allows(at(fabric::remote_write, value_of(object), 7, "b value")));
  mine.grants().drop_before(mine.grants().next_number());
  EXPECT_FALSE(mine.allows(at(fabric::remote_write, value_of(object), 7, "b value")));
  EXPECT_FALSE(mine.allows(at(fabric::flush_visibility, value_of(object), 7)));
}

// Every block of the pool: what lies in a segment is read, and nothing else.
TEST_P(StoreGuardTest, lets_clients_read_segments_and_nothing_else) {
  StoreGuard reader = guard();
  for (int i = 0; i < 100; ++i) {
    append("key " + std::to_string(i), std::string(1000, 'v'));
  }
  const auto check = [&] {
    std::size_t readable = 0;
    for (Offset block = first_block_; block < region_.size(); block += pool_format::block_bytes) {
      bool in_segment = false;
      log_->for_each_extent([&](const Segment& segment) {
        in_segment |= block - segment.offset < segment.capacity_bytes;
      });
      EXPECT_EQ(reader.allows(at(fabric::remote_read, block, pool_format::block_bytes)), in_segment)
          << block;
      EXPECT_FALSE(reader.allows(at(fabric::remote_write, block, 8, "abcdefgh"))) << block;
      readable += in_segment ? 1 : 0;
    }
    return readable;
  };
  const std::size_t before = check();
  EXPECT_GT(before, 0U);
  EXPECT_LT(before, (region_.size() - first_block_) / pool_format::block_bytes);
  // Dead segments are read until they are freed.
  log_->begin_new_pool();
  ASSERT_TRUE(log_->end_old_pool().ok());
  EXPECT_EQ(check(), before);
  EXPECT_EQ(log_->free_dead(1000).value(), 0U);
  EXPECT_EQ(check(), 0U);
  append("another", "value");
  EXPECT_GT(check(), 0U);
}

TEST_P(StoreGuardTest, no_read_crosses_the_end_of_a_segment) {
  StoreGuard reader = guard();
  const Object object = append("key", "value");
  std::uint64_t end = 0;
  log_->for_each_extent([&](const Segment& segment) {
    end = std::max(end, segment.offset + segment.capacity_bytes);
  });
  EXPECT_TRUE(reader.allows(at(fabric::remote_read, object.offset(), end - object.offset())));
  EXPECT_FALSE(reader.allows(at(fabric::remote_read, object.offset(), end - object.offset() + 1)));
  EXPECT_FALSE(reader.allows(at(fabric::remote_read, end - 1, ~std::uint64_t{0})));
}

TEST_P(StoreGuardTest, what_an_engine_adds_is_read_too) {
  StoreGuard reader = guard();
  const Offset table = region_.size() - 8192;
  EXPECT_FALSE(reader.allows(at(fabric::remote_read, table, 64)));
  readable_.add(table, 4096);
  EXPECT_TRUE(reader.allows(at(fabric::remote_read, table, 4096)));
  EXPECT_FALSE(reader.allows(at(fabric::remote_read, table, 4097)));
  append("key", "value");
  EXPECT_TRUE(reader.allows(at(fabric::remote_read, table + 4032, 64)));
}

}  // namespace
}  // namespace remora::kv
