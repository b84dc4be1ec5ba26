#include "kv/log/log.h"

#include "kv/log/log_fixture.h"

namespace remora::kv {
namespace {

INSTANTIATE_TEST_SUITE_P(media, LogTest, both_media(), granularity_name);

TEST_P(LogTest, gives_back_what_was_appended) {
  const Placed placed = put("key", "some value");
  EXPECT_EQ(placed.offset % 64, 0u);
  EXPECT_EQ(placed.size_bytes, 128u);
  const Result<Object> object = log_->find(placed.offset);
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(as_text(object->key()), "key");
  EXPECT_EQ(as_text(object->value()), "some value");
  EXPECT_EQ(object->kind(), Kind::value);
  EXPECT_EQ(object->sequence(), 1u);
  EXPECT_TRUE(object->intact());
  EXPECT_FALSE(object->durable() || object->invalid());
  EXPECT_EQ(object->previous(), Link{});
  EXPECT_EQ(log_->at(placed.offset).offset(), placed.offset);
}

TEST_P(LogTest, pads_the_key_with_zeros_over_what_was_there) {
  const Placed placed = put("k", "v");
  for (std::size_t at = 65; at < 72; ++at) {
    EXPECT_EQ(region_.bytes()[placed.offset + at], std::byte{0});
  }
}

TEST_P(LogTest, flags_and_links_change_word_by_word) {
  const Placed old = put("key", "one");
  const Placed placed = put("key", "two");
  const Object object = log_->at(placed.offset);
  log_->set_previous(object, Link{old.offset, false});
  log_->set_next(log_->at(old.offset), Link{placed.offset, false});
  log_->set_durable(object);
  log_->set_invalid(log_->at(old.offset));
  EXPECT_TRUE(object.durable());
  EXPECT_FALSE(object.invalid());
  EXPECT_TRUE(log_->at(old.offset).invalid());
  EXPECT_EQ(object.previous(), (Link{old.offset, false}));
  log_->set_previous(object, Link{old.offset, true});
  EXPECT_TRUE(object.previous().transferred);
  EXPECT_EQ(log_->at(old.offset).next(), (Link{placed.offset, false}));
  EXPECT_TRUE(object.intact());
}

TEST_P(LogTest, finds_no_object_at_an_offset_that_is_none) {
  const Placed placed = put("key", std::string(300, 'x'));
  for (const Offset offset :
       {Offset{0}, placed.offset - 64, placed.offset + 8, placed.offset + 64,
        placed.offset + placed.size_bytes, Offset{1} << 45, ~Offset{0} << 6}) {
    EXPECT_EQ(log_->find(offset).code(), Code::not_found) << offset;
  }
}

TEST_P(LogTest, refuses_impossible_sizes) {
  EXPECT_EQ(try_put("", "value").code(), Code::invalid_argument);
  EXPECT_EQ(try_put(std::string(1025, 'k'), "value").code(), Code::invalid_argument);
  NewObject large = new_object(as_bytes("key"), {}, 1);
  large.value_bytes = object_format::most_value_bytes + 1;
  EXPECT_EQ(log_->append(large).code(), Code::invalid_argument);
  NewObject tombstone = new_object(as_bytes("key"), as_bytes("value"), 1);
  tombstone.kind = Kind::tombstone;
  EXPECT_EQ(log_->append(tombstone).code(), Code::invalid_argument);
}

TEST_P(LogTest, an_object_larger_than_a_segment_gets_one_of_its_own) {
  const Placed before = put("a", "small");
  const std::string large(100'000, 'x');
  const Placed placed = put("b", large);
  const Placed after = put("c", "small");
  EXPECT_EQ(as_text(log_->at(placed.offset).value()), large);
  EXPECT_EQ(after.offset, before.offset + before.size_bytes);
  EXPECT_EQ(log_->usage().segments, 2u);
}

TEST_P(LogTest, is_full_but_for_the_reserve) {
  while (try_put("key", std::string(5000, 'x')).ok()) {
  }
  const LogUsage usage = log_->usage();
  EXPECT_EQ(try_put("key", std::string(5000, 'x')).code(), Code::no_space);
  EXPECT_LE(usage.total_bytes - usage.segment_bytes, usage.reserve_bytes + log_->segment_bytes());
  const std::string value(5000, 'x');
  while (try_put("key", value, DataPool::current, Reserve::may_use_half).ok()) {
  }
  const LogUsage half = log_->usage();
  EXPECT_GT(half.segment_bytes, usage.segment_bytes);
  EXPECT_GE(half.total_bytes - half.segment_bytes, half.reserve_bytes / 2);
  EXPECT_TRUE(try_put("key", value, DataPool::current, Reserve::may_use).ok());
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_GT(found_.size(), 60u);
}

TEST_P(LogTest, knows_beforehand_what_objects_will_need) {
  Random random(3);
  std::optional<std::uint64_t> space = 0;
  for (int i = 0; space; ++i) {
    std::vector<std::string> values;
    std::vector<std::uint64_t> sizes_bytes;
    for (std::uint64_t left = random.between(1, 6); left > 0; --left) {
      values.emplace_back(random.below(random.chance(1, 8) ? 40'000 : 9'000), 'v');
      sizes_bytes.push_back(object_format::size_bytes(3, values.back().size()));
    }
    space = log_->space_for(sizes_bytes, DataPool::current);
    const std::uint64_t before = log_->usage().segment_bytes;
    bool has_room = true;
    for (const std::string& value : values) {
      has_room = has_room && try_put("key", value).ok();
    }
    ASSERT_EQ(space.has_value(), has_room) << i;
    if (space) {
      ASSERT_EQ(before + *space, log_->usage().segment_bytes) << i;
    }
  }
}

TEST_P(LogTest, a_failed_append_changes_nothing) {
  put("a", "1");
  const LogUsage before = log_->usage();
  EXPECT_EQ(try_put("b", std::string(2 << 20, 'x')).code(), Code::no_space);
  EXPECT_EQ(log_->usage().segment_bytes, before.segment_bytes);
  EXPECT_EQ(log_->usage().appended_bytes, before.appended_bytes);
}

TEST_P(LogTest, opening_segments_does_not_block) {
  const std::uint64_t before = region_.blocked();
  for (int i = 0; i < 12; ++i) {
    put("key", std::string(9000, 'x'));
  }
  EXPECT_EQ(log_->usage().segments, 12u);
  EXPECT_EQ(region_.blocked(), before);
}

TEST_P(LogTest, a_pool_has_one_store) {
  EXPECT_EQ(Log::create(machine_.host, *pool_, options()).code(), Code::already_exists);
}

TEST_P(LogTest, refuses_segments_of_an_odd_size) {
  FakeRegion region(256 << 10, GetParam());
  LogMachine machine(region);
  auto pool = Pool::create(region, {});
  ASSERT_TRUE(pool.ok());
  for (const std::uint64_t size : {4096u, 20000u, 128u << 20}) {
    EXPECT_EQ(Log::create(machine.host, **pool, {"test", size}).code(), Code::invalid_argument);
  }
  EXPECT_EQ(Log::create(machine.host, **pool, {"", 0}).code(), Code::invalid_argument);
  EXPECT_EQ(Log::create(machine.host, **pool, {std::string(33, 'e'), 0}).code(),
            Code::invalid_argument);
  auto log = Log::create(machine.host, **pool, {"test", 0});
  ASSERT_TRUE(log.ok());
  EXPECT_EQ((*log)->segment_bytes(), 16u << 10);
}

}  // namespace
}  // namespace remora::kv
