#include "pmem/redo_log.h"

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <vector>

#include "base/random.h"
#include "pmem/pmem_testing.h"

namespace remora {
namespace {

using pool_format::Seal;
using pool_format::Write;

constexpr Seal any_seal = {};
constexpr std::span<const Seal> no_seals(&any_seal, 0);

// A log in a pool of the smallest size: 16 slots.
class RedoLogTest : public testing::TestWithParam<Granularity> {
 protected:
  RedoLogTest() {
    RedoLog::format(region_, header_);
    open();
  }

  void open() {
    log_.emplace(region_, header_, Faults());
    Result<std::uint64_t> replayed = log_->recover();
    ASSERT_TRUE(replayed.ok());
    replayed_ = *replayed;
  }
  // A power cut, and a new life.
  void cut_and_open() {
    region_.cut();
    open();
  }
  Offset word(std::uint64_t index) const { return header_.blocks + index * word_bytes; }
  std::uint64_t in_place(std::uint64_t index) const {
    return load<std::uint64_t>(region_.data() + word(index));
  }
  Ticket append(std::uint64_t index, std::uint64_t value) {
    const Write write{word(index), value};
    Result<Ticket> ticket = log_->append({&write, 1}, no_seals);
    EXPECT_TRUE(ticket.ok());
    return *ticket;
  }
  bool on_pages() const { return GetParam() == Granularity::page; }

  const pool_format::Header header_ =
      pool_format::plan(pool_format::smallest_pool_bytes, pool_format::Uuid{});
  mutable FakeRegion region_{pool_format::smallest_pool_bytes, GetParam()};
  std::optional<RedoLog> log_;
  std::uint64_t replayed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Media, RedoLogTest,
                         testing::Values(Granularity::byte, Granularity::cache_line,
                                         Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page         ? "page"
                                  : media.param == Granularity::cache_line ? "cache_line"
                                                                           : "byte";
                         });

TEST_P(RedoLogTest, a_fresh_log_replays_nothing) {
  EXPECT_EQ(replayed_, 0u);
  EXPECT_EQ(log_->newest(), 0u);
  EXPECT_EQ(log_->retired(), 0u);
}

TEST_P(RedoLogTest, an_appended_word_is_read_at_once) {
  append(0, 42);
  EXPECT_EQ(log_->load(word(0)), 42u);
}

TEST_P(RedoLogTest, the_newest_value_wins) {
  append(0, 1);
  append(0, 2);
  append(1, 9);
  EXPECT_EQ(log_->load(word(0)), 2u);
  EXPECT_EQ(log_->load(word(1)), 9u);
  EXPECT_EQ(log_->load(word(2)), 0u);
}

TEST_P(RedoLogTest, words_are_put_in_place_only_when_their_record_is_persistent) {
  const Ticket ticket = append(0, 42);
  EXPECT_EQ(in_place(0), on_pages() ? 0u : 42u);
  EXPECT_EQ(region_.persistent(ticket), !on_pages());
  log_->put_in_place();
  EXPECT_EQ(in_place(0), on_pages() ? 0u : 42u);
  region_.commit();
  EXPECT_TRUE(region_.persistent(ticket));
  log_->put_in_place();
  EXPECT_EQ(in_place(0), 42u);
}

TEST_P(RedoLogTest, a_persistent_record_survives_a_cut) {
  ASSERT_TRUE(region_.wait(append(0, 42)).ok());
  cut_and_open();
  EXPECT_EQ(replayed_, 1u);
  EXPECT_EQ(in_place(0), 42u);
}

TEST_P(RedoLogTest, a_record_that_waits_for_its_commit_is_lost_as_a_whole) {
  const Write writes[] = {{word(0), 1}, {word(1), 2}, {word(600), 3}};
  ASSERT_TRUE(log_->append(writes, no_seals).ok());
  cut_and_open();
  const std::uint64_t kept = on_pages() ? 0 : 1;
  EXPECT_EQ(replayed_, kept);
  EXPECT_EQ(in_place(0), kept * 1);
  EXPECT_EQ(in_place(1), kept * 2);
  EXPECT_EQ(in_place(600), kept * 3);
}

TEST_P(RedoLogTest, replay_is_in_order) {
  append(0, 1);
  append(0, 2);
  ASSERT_TRUE(region_.wait(append(0, 3)).ok());
  cut_and_open();
  EXPECT_EQ(replayed_, 3u);
  EXPECT_EQ(in_place(0), 3u);
}

TEST_P(RedoLogTest, a_second_opening_replays_nothing) {
  ASSERT_TRUE(region_.wait(append(0, 42)).ok());
  cut_and_open();
  cut_and_open();
  EXPECT_EQ(replayed_, 0u);
  EXPECT_EQ(in_place(0), 42u);
}

TEST_P(RedoLogTest, records_of_an_earlier_life_stay_dead) {
  append(0, 1);
  append(0, 2);
  ASSERT_TRUE(region_.wait(append(0, 3)).ok());
  cut_and_open();
  // This takes the slot of the first old record; the two behind it must not be replayed again.
  ASSERT_TRUE(region_.wait(append(0, 10)).ok());
  cut_and_open();
  EXPECT_EQ(replayed_, 1u);
  EXPECT_EQ(in_place(0), 10u);
}

TEST_P(RedoLogTest, retired_records_are_not_replayed) {
  append(0, 1);
  append(1, 2);
  ASSERT_TRUE(log_->retire_all().ok());
  EXPECT_EQ(log_->retired(), 2u);
  cut_and_open();
  EXPECT_EQ(replayed_, 0u);
  EXPECT_EQ(in_place(0), 1u);
  EXPECT_EQ(in_place(1), 2u);
}

TEST_P(RedoLogTest, retiring_an_empty_log_does_nothing) {
  const std::uint64_t blocked = region_.blocked();
  ASSERT_TRUE(log_->retire_all().ok());
  EXPECT_EQ(region_.blocked(), blocked);
}

TEST_P(RedoLogTest, the_ring_wraps_around) {
  for (std::uint64_t i = 1; i <= 10 * header_.log_slot_count; ++i) {
    append(i % 7, i);
    ASSERT_EQ(log_->load(word(i % 7)), i);
    ASSERT_LE(log_->newest() - log_->retired(), header_.log_slot_count);
  }
  ASSERT_TRUE(log_->retire_all().ok());
  region_.cut();
  for (std::uint64_t i = 10 * header_.log_slot_count - 6; i <= 10 * header_.log_slot_count; ++i) {
    EXPECT_EQ(in_place(i % 7), i);
  }
}

TEST_P(RedoLogTest, appending_blocks_only_when_every_slot_waits) {
  const std::uint64_t blocked = region_.blocked();
  for (std::uint64_t i = 0; i < header_.log_slot_count; ++i) {
    append(0, i);
  }
  EXPECT_EQ(region_.blocked(), blocked);
  append(0, 99);
  EXPECT_EQ(region_.blocked() > blocked, on_pages());
  EXPECT_EQ(log_->load(word(0)), 99u);
}

TEST_P(RedoLogTest, appending_never_blocks_when_others_commit) {
  const std::uint64_t blocked = region_.blocked();
  for (std::uint64_t i = 0; i < 10 * header_.log_slot_count; ++i) {
    append(0, i);
    region_.commit();
  }
  EXPECT_EQ(region_.blocked(), blocked);
}

TEST_P(RedoLogTest, one_record_holds_62_entries) {
  std::vector<Write> writes;
  for (std::uint64_t i = 0; i < pool_format::record_entries; ++i) {
    writes.push_back({word(i), i + 1});
  }
  Result<Ticket> ticket = log_->append(writes, no_seals);
  ASSERT_TRUE(ticket.ok() && region_.wait(*ticket).ok());
  cut_and_open();
  for (std::uint64_t i = 0; i < pool_format::record_entries; ++i) {
    EXPECT_EQ(in_place(i), i + 1);
  }
}

TEST_P(RedoLogTest, a_failed_medium_fails_the_log) {
  region_.fail();
  Status status;
  for (std::uint64_t i = 0; i <= header_.log_slot_count && status.ok(); ++i) {
    const Write write{word(0), i};
    status = log_->append({&write, 1}, no_seals).status();
  }
  EXPECT_EQ(status.code(), on_pages() ? Code::io_error : Code::ok);
  EXPECT_EQ(log_->retire_all().code(), on_pages() ? Code::io_error : Code::ok);
}

// Random records, commits, cuts. What was persistent at the cut must be there, whole records only,
// and what is there must be a prefix of what was appended.
TEST_P(RedoLogTest, after_any_cut_the_words_are_those_of_a_prefix_that_holds_all_acknowledged) {
  constexpr std::uint64_t words = 24;
  Random random(11);
  std::vector<std::vector<std::uint64_t>> states(1, std::vector<std::uint64_t>(words));
  std::size_t acknowledged = 0;
  for (std::uint64_t step = 1; step < 4000; ++step) {
    std::vector<Write> writes;
    states.push_back(states.back());
    for (std::uint64_t i = random.between(1, 5); i > 0; --i) {
      const std::uint64_t index = random.below(words);
      writes.push_back({word(index), step * 8 + i});
      states.back()[index] = step * 8 + i;
    }
    Result<Ticket> ticket = log_->append(writes, no_seals);
    ASSERT_TRUE(ticket.ok());
    if (random.chance(1, 5)) {
      ASSERT_TRUE(region_.wait(*ticket).ok());
      acknowledged = states.size() - 1;
    }
    if (random.chance(1, 40)) {
      cut_and_open();
      std::vector<std::uint64_t> found;
      for (std::uint64_t i = 0; i < words; ++i) {
        found.push_back(in_place(i));
      }
      std::size_t at = states.size() - 1;
      while (at > acknowledged && states[at] != found) {
        --at;
      }
      ASSERT_EQ(states[at], found);
      states = {found};
      acknowledged = 0;
    }
  }
}

}  // namespace
}  // namespace remora
