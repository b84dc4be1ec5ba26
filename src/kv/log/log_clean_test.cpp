#include <algorithm>

#include "kv/log/log_fixture.h"

namespace remora::kv {
namespace {

class LogClean : public LogTest {
 protected:
  // Appends a copy of the object to the next data pool.
  Placed copy(Offset offset) {
    const Object object = log_->at(offset);
    NewObject again = new_object(object.key(), object.value(), object.sequence());
    Result<Placed> placed = log_->append(again, DataPool::next, Reserve::may_use);
    REMORA_CHECK(placed.ok(), "there is room");
    std::ranges::copy(object.value(), placed->value.begin());
    region_.flush(placed->value);
    return *placed;
  }
  std::string in_reverse(DataPool pool) {
    std::string text;
    std::vector<Segment> segments;
    std::vector<Offset> offsets;
    log_->list(pool, segments);
    std::ranges::reverse(segments);
    for (const Segment& segment : segments) {
      log_->collect(segment, offsets);
      std::ranges::reverse(offsets);
      for (const Offset offset : offsets) {
        text += (text.empty() ? "" : " ") + std::string(as_text(log_->at(offset).key()));
      }
    }
    return text;
  }
};
INSTANTIATE_TEST_SUITE_P(media, LogClean, both_media(), granularity_name);

TEST_P(LogClean, objects_are_met_from_the_end) {
  put("a", std::string(6000, 'x'));
  put("b", std::string(6000, 'x'));
  put("c", std::string(6000, 'x'));
  put("d", "1");
  EXPECT_EQ(log_->usage().segments, 2u);
  EXPECT_EQ(in_reverse(DataPool::current), "d c b a");
  EXPECT_EQ(in_reverse(DataPool::next), "");
}

TEST_P(LogClean, both_pools_take_objects_until_the_old_one_ends) {
  const Placed a = put("a", "1");
  log_->begin_new_pool();
  copy(a.offset);
  put("b", "2");
  put("c", "3", DataPool::next);
  EXPECT_EQ(in_reverse(DataPool::current), "b a");
  EXPECT_EQ(in_reverse(DataPool::next), "c a");
  ASSERT_TRUE(log_->end_old_pool().ok());
  EXPECT_EQ(in_reverse(DataPool::current), "c a");
  EXPECT_EQ(log_->find(a.offset).code(), Code::not_found);
  EXPECT_EQ(log_->usage().dead_segments, 1u);
  EXPECT_EQ(as_text(log_->at(a.offset).key()), "a");  // peers may still read it
}

TEST_P(LogClean, the_old_pool_is_dead_after_a_cut) {
  put("a", "1");
  log_->begin_new_pool();
  put("b", "2", DataPool::next);
  const Result<Ticket> ticket = log_->end_old_pool();
  ASSERT_TRUE(ticket.ok() && pool_->wait(*ticket).ok());
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "b");
  EXPECT_EQ(log_->usage().segments, 1u);
  EXPECT_EQ(log_->usage().dead_segments, 0u);
}

TEST_P(LogClean, a_cut_in_its_middle_leaves_both_pools) {
  const Placed a = put("a", "1");
  log_->begin_new_pool();
  copy(a.offset);
  put("b", "2");
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a b a");
  log_->begin_new_pool();
  put("c", "3", DataPool::next);
  ASSERT_TRUE(log_->end_old_pool().ok());
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "c");
}

TEST_P(LogClean, space_comes_back_when_the_dead_are_freed) {
  for (int round = 0; round < 20; ++round) {
    while (try_put("key", std::string(5000, 'x')).ok()) {
    }
    const std::uint64_t full = log_->usage().segment_bytes;
    log_->begin_new_pool();
    put("kept", "1", DataPool::next, Reserve::may_use);
    ASSERT_TRUE(log_->end_old_pool().ok());
    EXPECT_EQ(try_put("key", std::string(50'000, 'x')).code(), Code::no_space);
    std::size_t remaining = log_->usage().dead_segments;
    EXPECT_GT(remaining, 10u);
    while (remaining > 0) {
      const Result<std::size_t> left = log_->free_dead(3);
      ASSERT_TRUE(left.ok());
      EXPECT_EQ(*left, remaining - std::min<std::size_t>(3, remaining));
      remaining = *left;
    }
    EXPECT_EQ(log_->usage().segment_bytes, log_->segment_bytes());
    EXPECT_GT(full, log_->segment_bytes());
  }
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "kept");
}

TEST_P(LogClean, given_up_leaves_both_pools_as_one) {
  const Placed a = put("a", "1");
  log_->begin_new_pool();
  copy(a.offset);
  log_->keep_both_pools();
  put("b", "2");
  EXPECT_EQ(in_reverse(DataPool::current), "b a a");
  log_->begin_new_pool();
  put("c", "3", DataPool::next);
  ASSERT_TRUE(log_->end_old_pool().ok());
  EXPECT_EQ(in_reverse(DataPool::current), "c");
}

TEST_P(LogClean, segments_that_are_retired_go_one_by_one) {
  put("a", std::string(9000, 'x'));
  put("b", std::string(9000, 'x'));
  put("c", std::string(9000, 'x'));
  put("d", std::string(9000, 'x'));
  std::vector<Segment> segments;
  log_->list(DataPool::current, segments);
  ASSERT_EQ(segments.size(), 4u);
  EXPECT_TRUE(log_->is_open(segments[3]));
  EXPECT_FALSE(log_->is_open(segments[0]));
  log_->retire({segments[0], segments[2]});
  EXPECT_EQ(in_reverse(DataPool::current), "d b");
  EXPECT_EQ(log_->usage().dead_segments, 2u);
  ASSERT_TRUE(log_->free_dead(1).ok());
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a b d") << "the medium knows of those alone that were freed";
}

TEST_P(LogClean, room_for_copies_is_what_no_segment_has_and_the_rest_of_the_open_one) {
  put("a", "1");
  log_->begin_new_pool();
  const LogUsage usage = log_->usage();
  EXPECT_EQ(log_->room_for_copies(), usage.total_bytes - usage.segment_bytes);
  const Placed copied = put("b", "2", DataPool::next);
  EXPECT_EQ(log_->room_for_copies(), usage.total_bytes - usage.segment_bytes - copied.size_bytes);
}

TEST_P(LogClean, a_copy_takes_a_small_segment_where_space_is_in_pieces) {
  put("a", "1");
  seal();
  std::vector<Offset> blocks;
  const auto reserve = [this] { return pool_->reserve(pool_format::block_bytes, Account::store); };
  for (Result<Offset> block = reserve(); block.ok(); block = reserve()) {
    blocks.push_back(*block);
  }
  std::ranges::sort(blocks);
  for (std::size_t i = 0; i < blocks.size(); i += 2) {
    ASSERT_TRUE(pool_->cancel(blocks[i]).ok());
  }
  log_->begin_new_pool();
  EXPECT_EQ(try_put("b", "2", DataPool::next, Reserve::keep).code(), Code::no_space);
  const Placed copied = put("b", "2", DataPool::next, Reserve::may_use);
  EXPECT_EQ(try_put("c", std::string(5000, 'x'), DataPool::next, Reserve::may_use).code(),
            Code::no_space);
  std::vector<Segment> segments;
  log_->list(DataPool::next, segments);
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments.front().capacity_bytes, pool_format::block_bytes);
  EXPECT_EQ(as_text(log_->at(copied.offset).key()), "b");
  log_->keep_both_pools();
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a b");
}

// Files, say, take all that they get; they get neither what the cleaner needs, nor what it frees.
TEST_P(LogClean, another_service_leaves_what_cleaning_needs) {
  const auto fill = [this] {
    std::uint64_t taken_bytes = 0;
    for (Result<Offset> block = pool_->reserve(pool_format::block_bytes, Account::files);
         block.ok(); block = pool_->reserve(pool_format::block_bytes, Account::files)) {
      taken_bytes += pool_format::block_bytes;
    }
    return taken_bytes;
  };
  put("a", "1");
  put("b", "2");
  seal();
  EXPECT_GT(fill(), 0u);
  log_->begin_new_pool();
  EXPECT_EQ(try_put("c", "3", DataPool::next, Reserve::keep).code(), Code::no_space);
  const LogUsage usage = log_->usage();
  EXPECT_EQ(usage.total_bytes, usage.segment_bytes + usage.reserve_bytes);
  for (const std::string key : {"a", "b"}) {
    put(key, "copy", DataPool::next, Reserve::may_use);
  }
  EXPECT_EQ(fill(), 0u);
}

TEST_P(LogClean, a_damaged_object_ends_the_collection) {
  const Placed a = put("a", "1");
  put("b", "2");
  region_.bytes()[a.offset] ^= std::byte{1};
  std::vector<Segment> segments;
  std::vector<Offset> offsets;
  log_->list(DataPool::current, segments);
  log_->collect(segments.front(), offsets);
  EXPECT_TRUE(offsets.empty());
}

}  // namespace
}  // namespace remora::kv
