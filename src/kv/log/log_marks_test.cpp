#include "kv/log/log_fixture.h"
#include "kv/log/log_upgrade_testing.h"

namespace remora::kv {
namespace {

using object_format::Header;

class LogMarks : public LogTest {
 protected:
  void move_marks(const std::vector<Offset>& undecided = {}) {
    log_->note_bounds(undecided);
    seal();
    const Result<Ticket> moved = log_->move_marks(100);
    ASSERT_TRUE(moved.ok());
    ASSERT_TRUE(pool_->wait(*moved).ok());
  }
  void damage(const Placed& placed, std::size_t byte = 0) {
    region_.bytes()[placed.offset + byte] ^= std::byte{0x10};
    write_back();
  }
  Status accept_damage() {
    log_.reset();
    pool_.reset();
    region_.cut();
    found_.clear();
    pool_ = std::move(Pool::open(region_, "the pool")).value();
    LogOptions accepting = options();
    accepting.accept_damage = true;
    auto log = Log::recover(machine_.host, *pool_, accepting, [this](const Object& object) {
      found_.push_back({std::string(as_text(object.key())), object.sequence(), object.intact(),
                        object.durable(), object.previous()});
    });
    if (log.ok()) {
      log_ = std::move(log).value();
    }
    return log.status();
  }
};
INSTANTIATE_TEST_SUITE_P(media, LogMarks, both_media(), granularity_name);

TEST_P(LogMarks, a_header_that_fails_before_the_mark_is_damage_and_behind_it_a_hole) {
  put("a", "1");
  const Placed b = put("b", "2");
  put("c", "3");
  move_marks();
  const Placed d = put("d", "4");
  put("e", "5");
  seal();
  damage(d);
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a b c");
  damage(b);
  const Status refused = restart();
  EXPECT_EQ(refused.code(), Code::damaged);
  EXPECT_NE(refused.message().find(std::to_string(b.offset)), std::string_view::npos)
      << refused.message();
  EXPECT_NE(refused.message().find("salvage"), std::string_view::npos);
}

TEST_P(LogMarks, every_byte_of_header_and_key_counts) {
  const Placed placed = put("key", "value");
  move_marks();
  const std::vector<std::byte> image(region_.bytes().begin(), region_.bytes().end());
  for (std::size_t byte = 0; byte < 67; ++byte) {
    if (byte >= offsetof(Header, previous) && byte < offsetof(Header, expires)) {
      continue;
    }
    std::ranges::copy(image, region_.bytes().begin());
    damage(placed, byte);
    EXPECT_EQ(restart().code(), Code::damaged) << byte;
  }
}

TEST_P(LogMarks, a_segment_that_is_damaged_from_its_start_is_not_taken_for_an_empty_one) {
  const Placed placed = put("a", "1");
  move_marks();
  damage(placed);
  EXPECT_EQ(restart().code(), Code::damaged);
}

TEST_P(LogMarks, a_mark_stops_at_what_is_undecided) {
  put("a", "1");
  const Placed b = put("b", "2");
  put("c", "3");
  move_marks({b.offset});
  damage(b);
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a");
}

TEST_P(LogMarks, nothing_moves_where_nothing_came) {
  put("a", "1");
  EXPECT_TRUE(log_->note_bounds({}));
  move_marks();
  EXPECT_FALSE(log_->note_bounds({}));
}

TEST_P(LogMarks, many_segments_take_several_transactions) {
  FakeRegion region(2 << 20, GetParam());
  LogMachine machine(region);
  auto pool = std::move(Pool::create(region, {})).value();
  auto log = std::move(Log::create(machine.host, *pool, options())).value();
  const std::string value(9000, 'x');
  for (std::uint64_t i = 1; i <= 60; ++i) {
    const auto placed = log->append(new_object(as_bytes("k"), as_bytes(value), i));
    ASSERT_TRUE(placed.ok());
  }
  log->note_bounds({});
  ASSERT_TRUE(region.wait(log->seal()).ok());
  ASSERT_TRUE(log->move_marks(1).ok());
  EXPECT_TRUE(log->note_bounds({}));
  ASSERT_TRUE(log->move_marks(100).ok());
  EXPECT_FALSE(log->note_bounds({}));
  ASSERT_TRUE(region.wait(log->seal()).ok());
  log.reset();
  pool.reset();
  region.cut();
  pool = std::move(Pool::open(region, "the pool")).value();
  EXPECT_TRUE(Log::recover(machine.host, *pool, options(), [](const Object&) {}).ok());
}

TEST_P(LogMarks, what_recovery_found_moves_when_it_is_decided) {
  put("a", "1");
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_FALSE(log_->note_bounds({}));
  std::vector<Segment> segments;
  log_->list(DataPool::current, segments);
  log_->note_decided(segments[0].number);
  EXPECT_TRUE(log_->note_bounds({}));
}

TEST_P(LogMarks, damage_that_is_accepted_is_passed_and_the_log_takes_no_changes) {
  put("a", "1");
  const Placed b = put("b", std::string(300, 'x'));
  const Placed c = put("c", "3");
  put("d", "4");
  move_marks();
  damage(b);
  damage(c, 64);
  ASSERT_TRUE(accept_damage().ok());
  EXPECT_EQ(keys(), "a d");
  ASSERT_EQ(log_->damage().size(), 1u);
  EXPECT_EQ(log_->damage()[0].offset, b.offset);
  EXPECT_EQ(log_->damage()[0].size_bytes, b.size_bytes + c.size_bytes);
  EXPECT_EQ(try_put("e", "5").code(), Code::permission_denied);
  EXPECT_EQ(log_->free_dead(1).code(), Code::permission_denied);
  EXPECT_EQ(restart().code(), Code::damaged);  // it is as it was
}

// A new total would hide from the next start what is missing.
TEST_P(LogMarks, a_damaged_log_is_not_brought_up_to_date) {
  put("a", "1");
  const Placed b = put("b", "2");
  move_marks();
  const Offset version =
      *pool_->root(store_format::root_name) + offsetof(store_format::Head, version);
  const std::uint64_t word = pool_->load(version);
  const auto made_in_version_3 = [&] { return word >> 32 << 32 | 3; };
  Transaction transaction;
  ASSERT_TRUE(transaction.set(version, made_in_version_3()).ok());
  ASSERT_TRUE(pool_->wait(*pool_->commit(transaction)).ok());
  damage(b);
  ASSERT_TRUE(accept_damage().ok());
  EXPECT_EQ(pool_->load(version), made_in_version_3());
  EXPECT_EQ(restart().code(), Code::damaged);
  EXPECT_EQ(pool_->load(version), made_in_version_3());
}

TEST_P(LogMarks, the_end_of_a_segment_may_be_what_is_damaged) {
  put("a", "1");
  const Placed b = put("b", "2");
  move_marks();
  damage(b);
  ASSERT_TRUE(accept_damage().ok());
  EXPECT_EQ(keys(), "a");
  ASSERT_EQ(log_->damage().size(), 1u);
  EXPECT_EQ(log_->damage()[0].size_bytes, b.size_bytes);
}

TEST_P(LogMarks, a_sound_log_is_not_changed_by_accepting_damage) {
  put("a", "1");
  move_marks();
  ASSERT_TRUE(accept_damage().ok());
  EXPECT_TRUE(log_->damage().empty());
  EXPECT_TRUE(try_put("b", "2").ok());
}

// --- Stores of version 2

TEST_P(LogMarks, a_store_of_version_2_is_brought_up_to_date) {
  const Placed a = put("a", "1");
  const Placed b = put("b", "2");
  put("c", "3");
  log_->set_durable(log_->at(a.offset));
  log_->set_invalid(log_->at(b.offset));
  move_marks();
  ASSERT_TRUE(begin_downgrade(*pool_).ok());
  ASSERT_TRUE(rewrite_states(*pool_).ok());
  write_back();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a b c");
  EXPECT_TRUE(found_[0].durable && !found_[1].durable && !found_[2].durable);
  EXPECT_TRUE(log_->at(b.offset).invalid());
  EXPECT_FALSE(log_->is_before_mark(a.offset));
  const Offset superblock = *pool_->root(store_format::root_name);
  EXPECT_EQ(pool_->load(superblock + offsetof(store_format::Head, version)) & 0xffffffff,
            store_format::version);
  ASSERT_TRUE(restart().ok());
  EXPECT_TRUE(found_[0].durable);
}

}  // namespace
}  // namespace remora::kv
