#include "kv/log/log_fixture.h"

namespace remora::kv {
namespace {

using object_format::Header;

class LogRecover : public LogTest {
 protected:
  std::byte* at(const Placed& placed) { return region_.data() + placed.offset; }
  std::uint64_t& word(const Placed& placed, std::size_t place) {
    return *reinterpret_cast<std::uint64_t*>(at(placed) + place);
  }
  Offset superblock() { return *pool_->root(store_format::root_name); }
};
INSTANTIATE_TEST_SUITE_P(media, LogRecover, both_media(), granularity_name);

TEST_P(LogRecover, finds_what_was_sealed_with_its_bytes) {
  put("a", "1");
  put("b", std::string(20'000, 'x'));
  const Placed c = put("c", "3");
  log_->set_durable(log_->at(c.offset));
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a c b");
  EXPECT_TRUE(found_[0].intact && found_[1].intact && found_[2].intact);
  EXPECT_TRUE(found_[1].durable);
  EXPECT_TRUE(log_->find(c.offset).ok());
}

TEST_P(LogRecover, does_not_find_what_was_not_sealed) {
  put("a", "1");
  seal();
  put("b", "2");
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a");
}

TEST_P(LogRecover, an_empty_store_is_a_store) {
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "");
  put("a", "1");
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a");
}

// As pages may arrive: a later object is there, an earlier one is not.
TEST_P(LogRecover, a_hole_ends_a_segment_and_nothing_behind_it_comes_back_later) {
  put("a", "1");
  const Placed lost = put("b", "2");
  put("c", "3");
  word(lost, offsetof(Header, sequence)) = 99;
  write_back();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a");
  const Placed fresh = put("d", "4");
  EXPECT_NE(fresh.offset, lost.offset);
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "a d");
}

TEST_P(LogRecover, believes_no_header_or_key_that_fails_its_checksum) {
  put("a", "1");
  const Placed placed = put("b", "2");
  seal();
  const std::vector<std::byte> image(region_.bytes().begin(), region_.bytes().end());
  for (std::size_t byte = 0; byte < 65; ++byte) {
    if (byte >= offsetof(Header, previous) && byte < 64) {
      continue;
    }
    std::ranges::copy(image, region_.bytes().begin());
    at(placed)[byte] ^= std::byte{0x41};
    write_back();
    ASSERT_TRUE(restart().ok()) << byte;
    EXPECT_EQ(keys(), "a") << byte;
  }
}

TEST_P(LogRecover, takes_no_flag_or_link_that_an_earlier_object_left_there) {
  const Placed placed = put("a", "1");
  seal();
  word(placed, offsetof(Header, state)) =
      object_format::state_word(log_->at(placed.offset).segment() + 1, object_format::durable_flag);
  word(placed, offsetof(Header, previous)) =
      object_format::link_word(Link{placed.offset, true}, log_->at(placed.offset).segment() + 1);
  write_back();
  ASSERT_TRUE(restart().ok());
  ASSERT_EQ(keys(), "a");
  EXPECT_FALSE(found_[0].durable);
  EXPECT_EQ(found_[0].previous, Link{});
}

TEST_P(LogRecover, survives_any_bytes_in_its_segments) {
  put("a", std::string(9000, 'x'));
  put("b", std::string(9000, 'x'));
  seal();
  std::vector<Segment> segments;
  log_->list(DataPool::current, segments);
  Random random(11);
  for (int round = 0; round < 50; ++round) {
    for (const Segment& segment : segments) {
      for (int i = 0; i < 20; ++i) {
        region_.bytes()[segment.offset + random.below(i < 10 ? 80 : segment.capacity_bytes)] =
            static_cast<std::byte>(random.next());
      }
    }
    write_back();
    ASSERT_TRUE(restart().ok());
    for (const Segment& segment : segments) {
      if (!pool_->is_live(segment.offset)) {
        return;  // damaged from its start, and freed
      }
    }
  }
}

TEST_P(LogRecover, numbers_of_an_earlier_life_do_not_come_again) {
  const SegmentNumber before = log_->at(put("a", "1").offset).segment();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(keys(), "");
  EXPECT_GT(log_->at(put("b", "2").offset).segment(), before);
  const SegmentNumber second = log_->at(put("c", "3").offset).segment();
  seal();
  ASSERT_TRUE(restart().ok());
  EXPECT_GT(log_->at(put("d", "4").offset).segment(), second);
}

TEST_P(LogRecover, frees_segments_in_which_nothing_is_found) {
  const Placed placed = put("a", "1");
  seal();
  word(placed, 0) = 0;
  write_back();
  ASSERT_TRUE(restart().ok());
  EXPECT_EQ(log_->usage().segments, 0u);
  EXPECT_EQ(log_->usage().segment_bytes, 0u);
}

TEST_P(LogRecover, again_and_again_changes_nothing) {
  for (int i = 0; i < 30; ++i) {
    put("key" + std::to_string(i), std::string(1000, 'x'));
  }
  seal();
  ASSERT_TRUE(restart().ok());
  const auto first = found_;
  const std::uint64_t objects = pool_->usage().object_count;
  EXPECT_EQ(first.size(), 30u);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(restart().ok());
    EXPECT_EQ(found_, first);
    EXPECT_EQ(pool_->usage().object_count, objects);
  }
}

TEST_P(LogRecover, says_what_is_wrong_with_a_superblock) {
  put("a", "1");
  seal();
  ASSERT_TRUE(restart().ok());  // after it no record of the pool's log mends what is damaged
  const Offset place = superblock();
  const std::vector<std::byte> image(region_.bytes().begin(), region_.bytes().end());
  const auto code_after = [&](std::size_t byte, std::uint8_t flipped = 1) {
    std::ranges::copy(image, region_.bytes().begin());
    region_.bytes()[place + byte] ^= std::byte{flipped};
    write_back();
    return restart().code();
  };
  EXPECT_EQ(code_after(0), Code::damaged);
  EXPECT_EQ(code_after(8, 4 ^ 2), Code::damaged);  // version 2, and yet with a total
  EXPECT_EQ(code_after(8), Code::unsupported);
  EXPECT_EQ(code_after(9), Code::unsupported);
  EXPECT_EQ(code_after(12), Code::damaged);
  EXPECT_EQ(code_after(50), Code::damaged);
  for (std::size_t byte = store_format::marks_begin;
       byte < store_format::marks_begin + offsetof(store_format::Marks, reserved); ++byte) {
    // Recovery wrote the later ones itself, and the record of that may mend them.
    EXPECT_TRUE(code_after(byte) == Code::damaged || keys() == "a") << byte;
  }
  for (std::size_t byte = 0; byte < 2 * sizeof(store_format::Slot); ++byte) {
    const bool is_free = byte >= sizeof(store_format::Slot);  // slot 1, but for its number
    EXPECT_EQ(code_after(store_format::slots_begin + byte),
              is_free && byte >= sizeof(store_format::Slot) + 8 ? Code::ok : Code::damaged)
        << byte;
  }
}

TEST_P(LogRecover, refuses_the_store_of_another_engine) {
  const auto log = Log::recover(machine_.host, *pool_, {"other", 0}, [](const Object&) {});
  EXPECT_EQ(log.code(), Code::invalid_argument);
  EXPECT_NE(log.status().message().find("test"), std::string_view::npos);
  EXPECT_EQ(Log::maker(*pool_).value(), "test");
}

TEST_P(LogRecover, there_is_none_in_a_blank_pool) {
  FakeRegion region(256 << 10, GetParam());
  LogMachine machine(region);
  auto pool = Pool::create(region, {});
  ASSERT_TRUE(pool.ok());
  EXPECT_EQ(Log::recover(machine.host, **pool, options(), [](const Object&) {}).code(),
            Code::not_found);
  EXPECT_EQ(Log::maker(**pool).code(), Code::not_found);
}

}  // namespace
}  // namespace remora::kv
