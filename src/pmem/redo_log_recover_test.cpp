// Which records count: each here is forged by hand, with every check but one in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "pmem/log_record.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool_checks.h"
#include "pmem/redo_log.h"

namespace remora {
namespace {

using pool_format::control_word;
using pool_format::ControlWord;
using pool_format::RecordHead;
using pool_format::Seal;
using pool_format::Write;

class RedoLogRecover : public testing::Test {
 protected:
  RedoLogRecover() { set_control(5, 0); }

  void set_control(std::uint64_t epoch, std::uint64_t retired) {
    store(region_.data() + header_.log_control, control_word(ControlWord::epoch, epoch));
    store(region_.data() + header_.log_control + 8, control_word(ControlWord::retired, retired));
  }
  std::byte* slot(std::uint64_t sequence) {
    return region_.data() + header_.log_slots +
           sequence % header_.log_slot_count * pool_format::log_slot_bytes;
  }
  // A record whose checksum is right, whatever else it says. It knows of none before it that it was
  // persistent, unless told otherwise.
  void forge(std::uint64_t sequence, std::uint64_t epoch, const std::vector<Write>& writes,
             const std::vector<Seal>& seals = {}, std::uint32_t behind = 0) {
    RecordHead head{sequence,
                    epoch,
                    static_cast<std::uint32_t>(writes.size()),
                    static_cast<std::uint32_t>(seals.size()),
                    behind != 0 ? behind
                                : static_cast<std::uint32_t>(
                                      std::min<std::uint64_t>(sequence, header_.log_slot_count)),
                    0};
    std::byte* const place = slot(sequence);
    std::byte* entry = place + sizeof head;
    std::memcpy(place, &head, sizeof head);
    for (const Write& write : writes) {
      std::memcpy(entry, &write, sizeof write);
      entry += sizeof write;
    }
    for (const Seal& seal : seals) {
      std::memcpy(entry, &seal, sizeof seal);
      entry += sizeof seal;
    }
    store(place + offsetof(RecordHead, checksum), log_record::checksum_of(place, head));
  }
  std::uint64_t recover() {
    RedoLog log(region_, header_, Faults());
    Result<std::uint64_t> replayed = log.recover();
    EXPECT_TRUE(replayed.ok());
    return *replayed;
  }
  void expect_damaged(std::string_view why) {
    RedoLog log(region_, header_, Faults());
    const Result<std::uint64_t> replayed = log.recover();
    EXPECT_EQ(replayed.code(), Code::damaged);
    EXPECT_NE(replayed.status().message().find(why), std::string_view::npos)
        << replayed.status().message();
  }
  std::uint64_t word() { return load<std::uint64_t>(region_.data() + word_); }
  void expect_refused(Offset place) {
    const std::vector<std::byte> before(region_.bytes().begin(), region_.bytes().end());
    forge(1, 5, {{place, ~std::uint64_t{0}}});
    EXPECT_EQ(recover(), 0u) << place;
    set_control(5, 0);
    std::memset(slot(1), 0, pool_format::log_slot_bytes);
    EXPECT_TRUE(std::ranges::equal(before, region_.bytes())) << place;
  }

  const pool_format::Header header_ =
      pool_format::plan(pool_format::smallest_pool_bytes, pool_format::Uuid{});
  FakeRegion region_{pool_format::smallest_pool_bytes, Granularity::cache_line};
  const Offset word_ = header_.blocks;
};

TEST_F(RedoLogRecover, replays_a_record_that_is_right) {
  forge(1, 5, {{word_, 77}});
  EXPECT_EQ(recover(), 1u);
  EXPECT_EQ(word(), 77u);
}

TEST_F(RedoLogRecover, starts_a_new_epoch) {
  recover();
  const std::uint64_t sixth = control_word(ControlWord::epoch, 6);
  EXPECT_EQ(load<std::uint64_t>(region_.data() + header_.log_control), sixth);
  region_.cut();
  EXPECT_EQ(load<std::uint64_t>(region_.data() + header_.log_control), sixth);
}

TEST_F(RedoLogRecover, what_it_replays_is_persistent_when_it_returns) {
  forge(1, 5, {{word_, 77}});
  recover();
  region_.cut();
  EXPECT_EQ(word(), 77u);
}

TEST_F(RedoLogRecover, ignores_another_epoch) {
  forge(1, 4, {{word_, 77}});
  EXPECT_EQ(recover(), 0u);
  EXPECT_EQ(word(), 0u);
}

TEST_F(RedoLogRecover, refuses_an_epoch_that_is_older_than_a_record) {
  forge(1, 6, {{word_, 77}});
  expect_damaged("the epoch of the log is older than its records");
  EXPECT_EQ(word(), 0u);
}

TEST_F(RedoLogRecover, refuses_a_gap_before_a_record_that_knew_better) {
  forge(1, 5, {{word_, 1}});
  forge(3, 5, {{word_, 3}}, {}, 1);
  expect_damaged("record 2 of the log");
  EXPECT_EQ(word(), 0u) << "nothing is replayed of a log that is refused";
  forge(3, 5, {{word_, 3}}, {}, 2);
  EXPECT_EQ(recover(), 1u);
}

TEST_F(RedoLogRecover, takes_the_word_of_any_record_behind_the_gap) {
  forge(6, 5, {{word_, 6}}, {}, 5);
  expect_damaged("record 1 of the log");
  forge(6, 5, {{word_, 6}}, {}, 6);
  EXPECT_EQ(recover(), 0u);
}

TEST_F(RedoLogRecover, refuses_a_mark_that_is_older_than_the_ring) {
  set_control(5, 3);
  for (std::uint64_t sequence = 8; sequence < 8 + header_.log_slot_count; ++sequence) {
    forge(sequence, 5, {{word_, sequence}}, {}, 1);
  }
  expect_damaged("record 4 of the log");
}

TEST_F(RedoLogRecover, a_seal_that_fails_before_a_record_that_knew_better_is_damage) {
  forge(1, 5, {{word_, 1}}, {{word_ + 4096, 100, 12345}});
  forge(2, 5, {{word_, 2}}, {}, 1);
  expect_damaged("record 1 of the log, or what it seals");
}

TEST_F(RedoLogRecover, ignores_a_record_that_claims_what_cannot_be) {
  forge(20, 5, {{word_, 20}}, {}, static_cast<std::uint32_t>(header_.log_slot_count + 1));
  EXPECT_EQ(recover(), 0u);
}

TEST_F(RedoLogRecover, refuses_log_control_with_one_or_two_bits_changed) {
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{0xabcdef012345}}) {
    for (const ControlWord which : {ControlWord::epoch, ControlWord::retired}) {
      const std::uint64_t sound = control_word(which, value);
      EXPECT_NE(sound >> 48, 0u);
      for (unsigned first = 0; first < 64; ++first) {
        for (unsigned second = first; second < 64; ++second) {
          const std::uint64_t word = sound ^ std::uint64_t{1} << first ^
                                     (first == second ? 0 : std::uint64_t{1} << second);
          EXPECT_FALSE(pool_format::control_value(which, word, pool_format::version))
              << first << " " << second;
        }
      }
    }
  }
}

TEST_F(RedoLogRecover, refuses_log_control_that_is_damaged) {
  for (const Offset place : {Offset{0}, Offset{1}, Offset{7}, Offset{8}, Offset{14}}) {
    region_.data()[header_.log_control + place] ^= std::byte{4};
    expect_damaged(place < 8 ? "the epoch of the log is damaged"
                             : "retired log records is damaged");
    set_control(5, 0);
  }
  store(region_.data() + header_.log_control, std::uint64_t{0});
  expect_damaged("the epoch of the log is damaged");
}

TEST_F(RedoLogRecover, ignores_another_sequence_number_in_the_slot) {
  set_control(5, header_.log_slot_count);
  forge(1, 5, {{word_, 77}});
  EXPECT_EQ(recover(), 0u);
  EXPECT_EQ(word(), 0u);
}

TEST_F(RedoLogRecover, ignores_a_record_with_any_byte_changed) {
  forge(1, 5, {{word_, 77}});
  const std::size_t size_bytes = sizeof(RecordHead) + sizeof(Write);
  for (std::size_t at = 0; at < size_bytes; ++at) {
    slot(1)[at] ^= std::byte{0x20};
    EXPECT_EQ(recover(), 0u) << at;
    set_control(5, 0);
    slot(1)[at] ^= std::byte{0x20};
  }
  EXPECT_EQ(word(), 0u);
  EXPECT_EQ(recover(), 1u);
}

TEST_F(RedoLogRecover, stops_at_the_first_gap) {
  forge(1, 5, {{word_, 1}});
  forge(3, 5, {{word_, 3}});
  EXPECT_EQ(recover(), 1u);
  EXPECT_EQ(word(), 1u);
}

TEST_F(RedoLogRecover, begins_behind_what_is_retired) {
  set_control(5, 20);
  forge(20, 5, {{word_, 20}});
  EXPECT_EQ(recover(), 0u);
  set_control(5, 20);
  forge(21, 5, {{word_, 21}});
  EXPECT_EQ(recover(), 1u);
  EXPECT_EQ(word(), 21u);
}

TEST_F(RedoLogRecover, replays_a_whole_ring) {
  set_control(5, 9);
  for (std::uint64_t sequence = 10; sequence < 10 + header_.log_slot_count; ++sequence) {
    forge(sequence, 5, {{word_, sequence}});
  }
  EXPECT_EQ(recover(), header_.log_slot_count);
  EXPECT_EQ(word(), 9 + header_.log_slot_count);
}

TEST_F(RedoLogRecover, refuses_places_that_are_not_for_records) {
  const Offset end = header_.size_bytes;
  for (const Offset place : {Offset{0}, Offset{8}, header_.roots - 8, end, end + 8, ~Offset{7},
                             ~Offset{0}, word_ + 1, word_ + 4, end - 4}) {
    expect_refused(place);
  }
}

TEST_F(RedoLogRecover, one_bad_place_spoils_the_whole_record) {
  forge(1, 5, {{word_, 1}, {header_.size_bytes, 2}});
  EXPECT_EQ(recover(), 0u);
  EXPECT_EQ(word(), 0u);
}

TEST_F(RedoLogRecover, refuses_more_entries_than_a_slot_holds) {
  for (const auto& [writes, seals] :
       {std::pair{63u, 0u}, {0u, 63u}, {62u, 1u}, {~0u, ~0u}, {~0u, 1u}, {1u, ~0u}}) {
    forge(1, 5, {{word_, 77}});
    store(slot(1) + offsetof(RecordHead, writes), writes);
    store(slot(1) + offsetof(RecordHead, seals), seals);
    EXPECT_EQ(recover(), 0u);
    set_control(5, 0);
  }
  EXPECT_EQ(word(), 0u);
}

TEST_F(RedoLogRecover, a_record_counts_when_its_seals_hold) {
  const Offset object = word_ + 4096;
  std::memset(region_.data() + object, 'x', 100);
  const std::uint32_t checksum = crc32c(ConstBytes(region_.data() + object, 100));
  forge(1, 5, {{word_, 1}}, {{object, 100, checksum}});
  EXPECT_EQ(recover(), 1u);
  EXPECT_EQ(word(), 1u);
}

TEST_F(RedoLogRecover, a_record_does_not_count_when_a_sealed_byte_is_missing) {
  const Offset object = word_ + 4096;
  std::memset(region_.data() + object, 'x', 100);
  const std::uint32_t checksum = crc32c(ConstBytes(region_.data() + object, 100));
  region_.data()[object + 99] = std::byte{0};
  forge(1, 5, {{word_, 1}}, {{object, 100, checksum}});
  forge(2, 5, {{word_, 2}});
  EXPECT_EQ(recover(), 0u);
  EXPECT_EQ(word(), 0u);
}

TEST_F(RedoLogRecover, refuses_seals_that_leave_the_pool) {
  const auto size_bytes = static_cast<std::uint32_t>(header_.size_bytes);
  for (const Seal seal : {Seal{header_.size_bytes, 1, 0}, Seal{header_.size_bytes - 8, 9, 0},
                          Seal{8, size_bytes, 0}, Seal{~Offset{0}, 2, 0}, Seal{0, ~0u, 0}}) {
    forge(1, 5, {{word_, 1}}, {seal});
    EXPECT_EQ(recover(), 0u);
    set_control(5, 0);
  }
  EXPECT_EQ(word(), 0u);
}

}  // namespace
}  // namespace remora
