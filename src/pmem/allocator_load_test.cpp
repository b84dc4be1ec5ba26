// Loading the allocator: what it refuses, and what it does not even look at.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <vector>

#include "pmem/allocator.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool_checks.h"

namespace remora {
namespace {

using pool_format::block_bytes;
using pool_format::BlockEntry;
using pool_format::blocks_per_group;
using pool_format::ChunkHead;
using pool_format::ChunkKind;
using pool_format::head_word;

constexpr ChunkHead run_of_3 = {ChunkKind::run, 0, 3};
constexpr ChunkHead lines = {ChunkKind::slots, 0, 1};  // objects of 64 bytes

// A pool of which only the parts before its blocks exist.
class AllocatorLoad : public testing::Test {
 protected:
  AllocatorLoad() : header_(pool_format::plan(8 << 20, no_uuid)), pool_(header_.blocks) {}

  void put_entry(std::uint64_t block, std::uint64_t head, std::uint64_t detail) {
    std::byte* const entry = pool_.data() + header_.table + block * sizeof(BlockEntry);
    store(entry, head);
    store(entry + offsetof(BlockEntry, detail), detail);
  }
  void put_summary(std::uint64_t index, std::uint64_t bits) {
    store(pool_.data() + header_.summary + index * word_bytes, bits);
  }
  void put_chunk(std::uint64_t block, const ChunkHead& head, std::uint64_t detail) {
    put_entry(block, head_word(head, block, detail), detail);
  }
  // An entry in the first group, which the summary names.
  void put_live(std::uint64_t block, const ChunkHead& head, std::uint64_t detail) {
    put_chunk(block, head, detail);
    put_summary(0, 1);
  }
  void expect_damaged(const std::string& why) {
    Allocator allocator(header_);
    const Status status = allocator.load(pool_);
    EXPECT_EQ(status.code(), Code::damaged);
    EXPECT_NE(status.message().find(why), std::string_view::npos) << status.message();
    EXPECT_NE(status.message().find("restore"), std::string_view::npos) << status.message();
  }
  void expect_sound() {
    Allocator allocator(header_);
    const Status status = allocator.load(pool_);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  const pool_format::Header header_;
  std::vector<std::byte> pool_;
};

TEST_F(AllocatorLoad, takes_sound_entries) {
  put_live(0, lines, ~std::uint64_t{0});
  put_live(1, run_of_3, 3 * block_bytes - 5);
  put_live(4, {ChunkKind::slots, 2, 3}, 1);
  Allocator allocator(header_);
  ASSERT_TRUE(allocator.load(pool_).ok());
  EXPECT_EQ(allocator.live_objects(), 66u);
  EXPECT_EQ(allocator.live_bytes(), 64 * 64 + 3 * block_bytes + 192);
  EXPECT_EQ(allocator.free_blocks(), header_.block_count - 7);
  EXPECT_TRUE(allocator.is_live(header_.blocks + block_bytes));
}

TEST_F(AllocatorLoad, space_between_chunks_is_free) {
  put_live(2, lines, 1);
  put_live(10, lines, 1);
  Allocator allocator(header_);
  ASSERT_TRUE(allocator.load(pool_).ok());
  EXPECT_EQ(*allocator.reserve(2 * block_bytes), header_.blocks);
  EXPECT_EQ(*allocator.reserve(7 * block_bytes), header_.blocks + 3 * block_bytes);
}

TEST_F(AllocatorLoad, a_chunk_may_reach_into_the_next_group) {
  put_live(blocks_per_group - 1, run_of_3, 3 * block_bytes);
  expect_sound();
  put_chunk(blocks_per_group + 2, lines, 1);
  put_summary(0, 3);
  expect_sound();
}

TEST_F(AllocatorLoad, refuses_an_unknown_kind) {
  put_live(5, ChunkHead{static_cast<ChunkKind>(2), 0, 1}, 1);
  expect_damaged("at block 5: unknown kind");
}

TEST_F(AllocatorLoad, refuses_an_unknown_account) {
  put_live(5, ChunkHead{ChunkKind::slots, 0, 1, static_cast<Account>(account_count)}, 1);
  expect_damaged("at block 5: unknown account");
}

TEST_F(AllocatorLoad, refuses_an_entry_with_any_bit_changed) {
  put_live(5, lines, 0x0123456789abcdef);
  expect_sound();
  std::byte* const entry = pool_.data() + header_.table + 5 * sizeof(BlockEntry);
  for (std::size_t bit = 0; bit < 8 * sizeof(BlockEntry); ++bit) {
    entry[bit / 8] ^= std::byte{1} << (bit % 8);
    expect_damaged("at block 5: an entry whose checksum is wrong");
    entry[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  expect_sound();
}

TEST_F(AllocatorLoad, refuses_an_entry_in_the_place_of_another) {
  put_entry(6, head_word(lines, 5, 1), 1);
  put_summary(0, 1);
  expect_damaged("at block 6: an entry whose checksum is wrong");
}

TEST_F(AllocatorLoad, takes_an_entry_of_version_1_in_a_pool_of_that_version_alone) {
  put_entry(5, pool_format::version_one::head_word(run_of_3), 3 * block_bytes);
  put_summary(0, 1);
  expect_damaged("at block 5: an entry whose checksum is wrong");
  Allocator allocator(header_);
  ASSERT_TRUE(allocator.load(pool_, pool_format::oldest_version, Account::store).ok());
  EXPECT_EQ(allocator.accounts()[1], (AccountUsage{1, 3 * block_bytes}));
  // One that is of version 2 already stays as it is.
  put_chunk(9, lines, 3);
  Allocator both(header_);
  ASSERT_TRUE(both.load(pool_, pool_format::oldest_version, Account::store).ok());
  EXPECT_EQ(both.accounts()[0], (AccountUsage{2, 128}));
}

TEST_F(AllocatorLoad, refuses_entries_of_version_1_with_bits_that_meant_nothing) {
  const std::uint64_t sound = pool_format::version_one::head_word(lines);
  for (const std::uint64_t bad :
       {sound | 1 << 16, sound | 0x2000, sound | std::uint64_t{1} << 48}) {
    put_entry(5, bad, 1);
    put_summary(0, 1);
    Allocator allocator(header_);
    EXPECT_EQ(allocator.load(pool_, pool_format::oldest_version).code(), Code::damaged) << bad;
  }
}

TEST_F(AllocatorLoad, the_total_is_that_of_the_allocator_that_wrote_the_entries) {
  Allocator first(header_);
  ASSERT_TRUE(first.load(pool_).ok());
  EXPECT_EQ(first.total(), 0u);
  WordSet words;
  for (const std::uint64_t size_bytes : {std::uint64_t{64}, std::uint64_t{300}, 3 * block_bytes}) {
    first.publish(*first.reserve(size_bytes, Account::files), words);
  }
  for (const pool_format::Write& write : words.writes()) {
    store(pool_.data() + write.place, write.value);
  }
  Allocator second(header_);
  ASSERT_TRUE(second.load(pool_).ok());
  EXPECT_NE(second.total(), 0u);
  EXPECT_EQ(second.total(), first.total());
  EXPECT_EQ(second.accounts(), first.accounts());
  put_entry(0, 0,
            0);  // the smallest is in the first block: it is missing now, and alone does not tell
  Allocator third(header_);
  ASSERT_TRUE(third.load(pool_).ok());
  EXPECT_NE(third.total(), first.total());
}

TEST_F(AllocatorLoad, refuses_a_chunk_without_blocks) {
  put_live(0, {ChunkKind::slots, 0, 0}, 1);
  expect_damaged("leaves the pool");
}

TEST_F(AllocatorLoad, refuses_a_chunk_that_leaves_the_pool) {
  const std::uint64_t last = header_.block_count - 1;
  put_chunk(last, run_of_3, 3 * block_bytes);
  put_summary(0, std::uint64_t{1} << (last / blocks_per_group));
  expect_damaged("leaves the pool");
}

TEST_F(AllocatorLoad, refuses_an_unknown_size_class) {
  put_live(0, {ChunkKind::slots, static_cast<std::uint8_t>(size_classes.size()), 1}, 1);
  expect_damaged("unknown size class");
}

TEST_F(AllocatorLoad, refuses_a_chunk_that_is_not_as_long_as_its_class) {
  put_live(0, {ChunkKind::slots, 2, 1}, 1);
  expect_damaged("unknown size class");
}

TEST_F(AllocatorLoad, refuses_objects_that_the_class_does_not_have) {
  put_live(0, {ChunkKind::slots, 15, 1}, 4);  // 2048 bytes: two objects
  expect_damaged("objects that its size class does not have");
}

TEST_F(AllocatorLoad, refuses_a_chunk_with_no_object) {
  put_live(0, lines, 0);
  expect_damaged("objects that its size class does not have");
}

TEST_F(AllocatorLoad, refuses_a_run_whose_size_does_not_fit_its_blocks) {
  for (const std::uint64_t size_bytes :
       {std::uint64_t{0}, 2 * block_bytes, 3 * block_bytes + 1, ~std::uint64_t{0}}) {
    put_live(0, run_of_3, size_bytes);
    expect_damaged("size does not fit");
  }
}

TEST_F(AllocatorLoad, refuses_a_run_that_has_a_size_class) {
  put_live(0, {ChunkKind::run, 1, 3}, 3 * block_bytes);
  expect_damaged("size does not fit");
}

TEST_F(AllocatorLoad, refuses_a_run_larger_than_any_object) {
  const pool_format::Header large = pool_format::plan(256 << 20, no_uuid);
  std::vector<std::byte> pool(large.blocks);
  const std::uint64_t blocks = largest_object_bytes / block_bytes + 1;
  store(pool.data() + large.summary, std::uint64_t{1});
  store(
      pool.data() + large.table,
      head_word({ChunkKind::run, 0, static_cast<std::uint16_t>(blocks)}, 0, blocks * block_bytes));
  store(pool.data() + large.table + 8, blocks * block_bytes);
  EXPECT_EQ(Allocator(large).load(pool).code(), Code::damaged);
}

TEST_F(AllocatorLoad, refuses_two_chunks_that_overlap) {
  put_live(0, run_of_3, 3 * block_bytes);
  put_live(2, lines, 1);
  expect_damaged("at block 2: two chunks that overlap");
}

TEST_F(AllocatorLoad, refuses_chunks_that_overlap_across_groups) {
  put_live(blocks_per_group - 1, run_of_3, 3 * block_bytes);
  put_chunk(blocks_per_group, lines, 1);
  put_summary(0, 3);
  expect_damaged("two chunks that overlap");
}

TEST_F(AllocatorLoad, refuses_objects_in_no_chunk) {
  put_live(0, lines, 1);
  put_entry(1, 0, 1);
  expect_damaged("at block 1: objects in a chunk that does not exist");
}

TEST_F(AllocatorLoad, refuses_a_summary_that_names_an_empty_group) {
  put_summary(0, 2);
  expect_damaged("has no chunk");
}

TEST_F(AllocatorLoad, refuses_a_summary_that_names_blocks_beyond_the_pool) {
  put_summary(0, std::uint64_t{1} << 63);
  expect_damaged("beyond the pool");
  put_summary(0, 0);
  put_summary((header_.table - header_.summary) / word_bytes - 1, 1);
  expect_damaged("beyond the pool");
}

// A pool of 64 GiB with two live objects. All of the table but the two pages that describe them is
// out of bounds: touching it ends the program.
TEST(AllocatorLoadCost, looks_only_at_groups_with_live_objects) {
  const pool_format::Header header = pool_format::plan(std::uint64_t{64} << 30, no_uuid);
  static_assert(blocks_per_group * sizeof(BlockEntry) == page_bytes);
  ASSERT_EQ(header.table % page_bytes, 0u);
  void* const mapped = mmap(nullptr, header.blocks, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  const Bytes pool(static_cast<std::byte*>(mapped), header.blocks);
  std::byte* const table = pool.data() + header.table;
  ASSERT_EQ(mprotect(table, header.blocks - header.table, PROT_NONE), 0);
  const std::uint64_t last = header.block_count / blocks_per_group - 1;
  for (const std::uint64_t group : {std::uint64_t{3}, last}) {
    std::byte* const entries = table + group * page_bytes;
    ASSERT_EQ(mprotect(entries, page_bytes, PROT_READ | PROT_WRITE), 0);
    store(entries, head_word(lines, group * blocks_per_group, 1));
    store(entries + offsetof(BlockEntry, detail), std::uint64_t{1});
    store(pool.data() + header.summary + group / 64 * word_bytes, std::uint64_t{1} << (group % 64));
  }
  Allocator allocator(header);
  EXPECT_TRUE(allocator.load(pool).ok());
  EXPECT_EQ(allocator.live_objects(), 2u);
  EXPECT_EQ(allocator.free_blocks(), header.block_count - 2);
  munmap(mapped, header.blocks);
}

}  // namespace
}  // namespace remora
