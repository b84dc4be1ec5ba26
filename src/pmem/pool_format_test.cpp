#include "pmem/pool_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace remora::pool_format {
namespace {

constexpr Uuid some_uuid = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static_assert(offsetof(Header, version) == 8 && offsetof(Header, segments) == 12 &&
              offsetof(Header, uuid) == 16 && offsetof(Header, size_bytes) == 32 &&
              offsetof(Header, roots) == 40 && offsetof(Header, log_control) == 48 &&
              offsetof(Header, log_slots) == 56 && offsetof(Header, summary) == 64 &&
              offsetof(Header, table) == 72 && offsetof(Header, blocks) == 80 &&
              offsetof(Header, block_count) == 88 && offsetof(Header, root_count) == 96 &&
              offsetof(Header, log_slot_count) == 100 && offsetof(Header, reserved) == 104 &&
              offsetof(Header, reserved_tail) == 248);
static_assert(offsetof(Root, value) == 8 && offsetof(Root, name) == 16);
static_assert(offsetof(LogControl, epoch) == 0 && offsetof(LogControl, retired) == 8);
static_assert(offsetof(RecordHead, epoch) == 8 && offsetof(RecordHead, writes) == 16 &&
              offsetof(RecordHead, seals) == 20 && offsetof(RecordHead, behind) == 24);
static_assert(offsetof(Write, value) == 8 && offsetof(Seal, size_bytes) == 8 &&
              offsetof(Seal, checksum) == 12 && offsetof(BlockEntry, detail) == 8);
static_assert(record_entries == 62);

void expect_sound_plan(std::uint64_t size_bytes) {
  SCOPED_TRACE(size_bytes);
  const Header header = plan(size_bytes, some_uuid);
  EXPECT_TRUE(header.magic == magic);
  EXPECT_EQ(header.version, version);
  EXPECT_EQ(header.segments, 1u);
  EXPECT_TRUE(header.uuid == some_uuid);
  EXPECT_EQ(header.size_bytes, round_down(size_bytes, block_bytes));
  // The parts follow each other in order and do not overlap.
  EXPECT_GE(header.roots, sizeof(Header));
  EXPECT_GE(header.log_control, header.roots + header.root_count * sizeof(Root));
  EXPECT_GE(header.log_slots, header.log_control + sizeof(LogControl));
  EXPECT_GE(header.summary, header.log_slots + header.log_slot_count * log_slot_bytes);
  const std::uint64_t groups = (header.block_count + blocks_per_group - 1) / blocks_per_group;
  EXPECT_GE(header.table, header.summary + round_up(groups, std::uint64_t{64}) / 8);
  EXPECT_GE(header.blocks, header.table + header.block_count * sizeof(BlockEntry));
  EXPECT_LE(header.blocks + header.block_count * block_bytes, header.size_bytes);
  for (const Offset place :
       {header.roots, header.log_control, header.summary, header.table, header.blocks}) {
    EXPECT_EQ(place % page_bytes, 0u);
  }
  EXPECT_EQ(header.log_slots % cache_line_bytes, 0u);
  EXPECT_EQ(header.root_count, 64u);
  EXPECT_GE(header.log_slot_count, 16u);
  EXPECT_LE(header.log_slot_count, 256u);
  // Nothing worth a block is left over at the end: what is left would have needed a table page.
  EXPECT_LT(header.size_bytes - header.blocks - header.block_count * block_bytes, 3 * block_bytes);
  EXPECT_TRUE(verify(header, header.size_bytes, "pool").ok());
}

TEST(PoolFormat, plans_are_sound_around_every_power_of_two) {
  for (std::uint64_t size_bytes = smallest_pool_bytes; size_bytes < largest_pool_bytes;
       size_bytes *= 2) {
    expect_sound_plan(size_bytes);
    expect_sound_plan(size_bytes + 1);
    expect_sound_plan(size_bytes + block_bytes);
    expect_sound_plan(2 * size_bytes - 1);
    expect_sound_plan(2 * size_bytes - block_bytes);
  }
  expect_sound_plan(largest_pool_bytes);
}

TEST(PoolFormat, plans_are_sound_for_every_small_number_of_blocks) {
  for (std::uint64_t size_bytes = smallest_pool_bytes; size_bytes < 8 << 20;
       size_bytes += block_bytes) {
    expect_sound_plan(size_bytes);
  }
}

TEST(PoolFormat, plans_are_sound_for_odd_sizes) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t high = std::uint64_t{1} << random.between(19, 46);
    expect_sound_plan(random.between(smallest_pool_bytes, high));
  }
}

TEST(PoolFormat, the_smallest_pool_has_room_for_data) {
  EXPECT_GE(plan(smallest_pool_bytes, some_uuid).block_count, 50u);
}

TEST(PoolFormat, the_plan_depends_on_nothing_but_its_arguments) {
  const Header first = plan(1 << 20, some_uuid);
  const Header second = plan(1 << 20, some_uuid);
  EXPECT_TRUE(std::ranges::equal(object_bytes(first), object_bytes(second)));
}

// A header that was changed after it was made; the file is as long as it should be.
Status verify_changed(void (*change)(Header&), bool forge_checksum) {
  Header header = plan(1 << 20, some_uuid);
  change(header);
  if (forge_checksum) {
    header.checksum = checksum_of(header);
  }
  return verify(header, 1 << 20, "the-path");
}

void expect_refusal(const Status& status, Code code, std::string_view why, std::string_view what) {
  EXPECT_EQ(status.code(), code);
  EXPECT_NE(status.message().find("the-path"), std::string_view::npos) << status.message();
  EXPECT_NE(status.message().find(why), std::string_view::npos) << status.message();
  EXPECT_NE(status.message().find(what), std::string_view::npos) << status.message();
}

TEST(PoolFormat, refuses_another_magic) {
  expect_refusal(verify_changed([](Header& header) { header.magic[0] = 'X'; }, true),
                 Code::invalid_argument, "not a Remora pool", "remora pool create");
}

TEST(PoolFormat, refuses_a_header_without_magic) {
  expect_refusal(verify_changed([](Header& header) { header.magic = {}; }, false), Code::damaged,
                 "with zeros", "create it again");
  expect_refusal(verify_changed([](Header& header) { header = {}; }, false), Code::damaged,
                 "with zeros", "create it again");
}

TEST(PoolFormat, refuses_another_version_by_name) {
  expect_refusal(verify_changed([](Header& header) { header.version = 4; }, true),
                 Code::unsupported, "format version 4", "matching release");
  expect_refusal(verify_changed([](Header& header) { header.version = 0; }, true),
                 Code::unsupported, "format version 0", "matching release");
  // Whatever a later version does with the rest of the header, checksum included.
  expect_refusal(verify_changed([](Header& header) { header.version = 77; }, false),
                 Code::unsupported, "format version 77", "reads versions 1 to 3");
}

TEST(PoolFormat, refuses_a_header_with_any_byte_changed) {
  const Header sound = plan(1 << 20, some_uuid);
  for (std::size_t at = 0; at < sizeof(Header); ++at) {
    Header header = sound;
    reinterpret_cast<std::byte*>(&header)[at] ^= std::byte{0x10};
    EXPECT_FALSE(verify(header, 1 << 20, "the-path").ok()) << at;
  }
  expect_refusal(verify_changed([](Header& header) { ++header.block_count; }, false), Code::damaged,
                 "damaged header", "backup");
}

TEST(PoolFormat, refuses_a_forged_layout) {
  const std::vector<void (*)(Header&)> changes = {
      [](Header& header) { header.size_bytes = 0; },
      [](Header& header) { header.size_bytes = ~std::uint64_t{0}; },
      [](Header& header) { header.size_bytes += 1; },
      [](Header& header) { header.roots = 0; },
      [](Header& header) { header.log_control += 8; },
      [](Header& header) { header.log_slots = ~Offset{0}; },
      [](Header& header) { header.summary = 0; },
      [](Header& header) { header.table += page_bytes; },
      [](Header& header) { header.blocks -= page_bytes; },
      [](Header& header) { header.block_count = ~std::uint64_t{0}; },
      [](Header& header) { header.root_count = 65; },
      [](Header& header) { header.log_slot_count = 0; },
      [](Header& header) { header.reserved[17] = 1; },
      [](Header& header) { header.reserved_tail = 1; },
  };
  for (const auto change : changes) {
    expect_refusal(verify_changed(change, true), Code::damaged, "no layout of this version",
                   "backup");
  }
}

TEST(PoolFormat, refuses_a_number_of_pieces_that_cannot_be) {
  const std::vector<void (*)(Header&)> changes = {
      [](Header& header) { header.segments = 2; },
      [](Header& header) { header.segments = 0; },
      [](Header& header) { header.segments = segments_word(1); },
      [](Header& header) { header.version = 3; },
      [](Header& header) {
        header.version = 3;
        header.segments = segments_word(0);
      },
      [](Header& header) {
        header.version = 3;
        header.segments = segments_word(most_extensions + 1);
      },
      [](Header& header) {
        header.version = 1;
        header.segments = segments_word(1);
      },
      [](Header& header) {
        header.version = 3;
        header.segments = segments_word(1) ^ 0x10000;
      },
  };
  for (const auto change : changes) {
    expect_refusal(verify_changed(change, true), Code::damaged, "how often it was grown", "backup");
  }
}

TEST(PoolFormat, a_number_of_pieces_survives_its_word) {
  for (std::size_t extensions = 1; extensions <= most_extensions; ++extensions) {
    Header header = plan(1 << 20, some_uuid);
    header.version = grown_version;
    header.segments = segments_word(extensions);
    EXPECT_EQ(extensions_of(header), extensions);
    EXPECT_EQ(checksum_of(header), header.checksum);
  }
}

TEST(PoolFormat, refuses_a_truncated_file) {
  const Header header = plan(1 << 20, some_uuid);
  const Status status = verify(header, (1 << 20) - 1, "the-path");
  expect_refusal(status, Code::damaged, "truncated: it has 1048575 bytes", "backup");
}

TEST(PoolFormat, takes_a_file_that_is_longer_than_its_pool) {
  EXPECT_TRUE(verify(plan(1 << 20, some_uuid), (1 << 20) + 1, "the-path").ok());
}

TEST(PoolFormat, takes_the_version_before_with_the_same_checksum) {
  EXPECT_TRUE(verify_changed([](Header& header) { header.version = 1; }, false).ok());
}

TEST(PoolFormat, a_chunk_head_survives_its_word) {
  const ChunkHead head{ChunkKind::slots, 21, 7, Account::files};
  const ChunkHead back = ChunkHead::from(head.low());
  EXPECT_EQ(back.kind, head.kind);
  EXPECT_EQ(back.size_class, head.size_class);
  EXPECT_EQ(back.blocks, head.blocks);
  EXPECT_EQ(back.account, head.account);
  EXPECT_EQ(head.low(), 0x0007'03abu);
}

TEST(PoolFormat, accounts_have_names) {
  EXPECT_EQ(to_string(Account::none), "none");
  EXPECT_EQ(to_string(Account::store), "store");
  EXPECT_EQ(to_string(Account::memory), "memory");
  EXPECT_EQ(to_string(static_cast<Account>(account_count)), "unknown");
}

}  // namespace
}  // namespace remora::pool_format
