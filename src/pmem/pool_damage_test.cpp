// Damage of a pool's structures is noticed; what a power cut leaves is not called damage; and what
// is whole can be read all the same.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pmem/pmem_testing.h"
#include "pmem/pool.h"
#include "pmem/pool_checks.h"
#include "pmem/version_one_testing.h"

namespace remora {
namespace {

using pool_format::BlockEntry;
using pool_format::Root;

class PoolDamage : public testing::TestWithParam<Granularity> {
 protected:
  PoolDamage() : pool_(std::move(Pool::create(region_, no_uuid)).value()) {}

  Ticket start(const std::string& root, std::uint64_t size_bytes, Account account) {
    const Offset offset = *pool_->reserve(size_bytes, account);
    std::memset(pool_->object(offset).data(), 'x', size_bytes);
    Transaction transaction;
    EXPECT_TRUE(transaction.publish_sealed(offset, size_bytes).ok());
    EXPECT_TRUE(transaction.set_root(root, offset).ok());
    return *pool_->commit(transaction);
  }
  void make(const std::string& root, std::uint64_t size_bytes = 100,
            Account account = Account::none) {
    ASSERT_TRUE(pool_->wait(start(root, size_bytes, account)).ok());
  }
  // An orderly end.
  void close() {
    ASSERT_TRUE(pool_->close().ok());
    pool_.reset();
  }
  void kill() { pool_.reset(); }
  void expect_damaged(const std::string& why) {
    const Result<std::unique_ptr<Pool>> pool = Pool::open(region_, "p");
    EXPECT_EQ(pool.code(), Code::damaged);
    EXPECT_NE(pool.status().message().find(why), std::string_view::npos) << pool.status().message();
    EXPECT_NE(pool.status().message().find("remora pool salvage"), std::string_view::npos);
  }
  void expect_sound() {
    Result<std::unique_ptr<Pool>> pool = Pool::open(region_, "p");
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    pool_ = std::move(pool).value();
    EXPECT_TRUE(pool_->check_in_full().ok()) << pool_->check_in_full().message();
  }
  std::vector<std::byte> page_at(Offset place) {
    const Bytes page = region_.bytes().subspan(round_down(place, Offset{page_bytes}), page_bytes);
    return {page.begin(), page.end()};
  }
  std::byte* slot(std::uint64_t sequence) {
    return region_.data() + header_.log_slots +
           sequence % header_.log_slot_count * pool_format::log_slot_bytes;
  }

  FakeRegion region_{256 << 10, GetParam()};
  const pool_format::Header header_ = pool_format::plan(256 << 10, no_uuid);
  std::unique_ptr<Pool> pool_;
};

INSTANTIATE_TEST_SUITE_P(media, PoolDamage,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(PoolDamage, a_zeroed_entry_is_noticed) {
  make("a");
  make("b", 5000);
  Transaction unlink;  // so that no root tells that something is missing
  ASSERT_TRUE(unlink.set_root("b", 0).ok());
  ASSERT_TRUE(pool_->wait(*pool_->commit(unlink)).ok());
  close();
  std::memset(region_.data() + header_.table + sizeof(BlockEntry), 0, sizeof(BlockEntry));
  expect_damaged("missing, or older than the rest");
}

TEST_P(PoolDamage, a_zeroed_root_is_noticed) {
  make("a");
  close();
  std::memset(region_.data() + header_.roots, 0, sizeof(Root));
  expect_damaged("missing, or older than the rest");
}

TEST_P(PoolDamage, a_root_with_any_bit_changed_is_noticed) {
  make("a");
  close();
  for (std::size_t bit = 0; bit < 8 * sizeof(Root); ++bit) {
    std::byte& byte = region_.data()[header_.roots + bit / 8];
    byte ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged) << bit;
    byte ^= std::byte{1} << (bit % 8);
  }
  expect_sound();
}

TEST_P(PoolDamage, a_stale_page_of_any_structure_is_noticed) {
  for (const Offset place : {header_.roots, header_.table, header_.log_control}) {
    SCOPED_TRACE(place);
    make("a" + std::to_string(place));
    close();
    const std::vector<std::byte> old = page_at(place);
    expect_sound();
    make("b" + std::to_string(place));
    close();
    const std::vector<std::byte> now = page_at(place);
    std::memcpy(region_.data() + place, old.data(), old.size());
    EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
    std::memcpy(region_.data() + place, now.data(), now.size());
    expect_sound();
  }
}

TEST_P(PoolDamage, a_stale_summary_is_noticed) {
  close();
  const std::vector<std::byte> old = page_at(header_.summary);
  expect_sound();
  make("a");
  close();
  std::memcpy(region_.data() + header_.summary, old.data(), old.size());
  EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
}

TEST_P(PoolDamage, a_changed_bit_of_the_epoch_or_of_the_mark_is_noticed) {
  make("a");
  close();
  for (std::size_t bit = 0; bit < 128; ++bit) {
    std::byte& byte = region_.data()[header_.log_control + bit / 8];
    byte ^= std::byte{1} << (bit % 8);
    expect_damaged(bit < 64 ? "the epoch of the log is damaged" : "retired log records");
    byte ^= std::byte{1} << (bit % 8);
  }
  expect_sound();
}

TEST_P(PoolDamage, a_damaged_record_before_one_that_is_whole_is_noticed) {
  make("a");
  make("b");
  make("c");
  kill();
  region_.cut();
  const std::vector<std::byte> before(region_.bytes().begin(), region_.bytes().end());
  for (const std::size_t at : {0u, 8u, 16u, 24u, 28u, 40u}) {
    slot(2)[at] ^= std::byte{1};
    expect_damaged("record 2 of the log");
    slot(2)[at] ^= std::byte{1};
  }
  EXPECT_EQ(std::memcmp(before.data(), region_.data(), before.size()), 0);
  std::memset(slot(2), 0, pool_format::log_slot_bytes);
  expect_damaged("record 2 of the log");
  std::memcpy(region_.data(), before.data(), before.size());
  expect_sound();
  EXPECT_EQ(pool_->replayed_records(), 3u);
}

TEST_P(PoolDamage, what_a_record_sealed_is_covered_by_it) {
  make("a");
  make("b");
  const Offset object = *pool_->root("a");
  kill();
  region_.data()[object + 50] ^= std::byte{1};
  expect_damaged("record 1 of the log, or what it seals");
}

// Three records wait for one commit: nobody knew that any of them was persistent.
TEST(PoolCut, a_gap_that_nobody_knew_better_of_is_no_damage) {
  FakeRegion region(256 << 10, Granularity::page);
  auto pool = std::move(Pool::create(region, no_uuid)).value();
  for (const char* root : {"a", "b", "c"}) {
    const Offset offset = *pool->reserve(100);
    Transaction transaction;
    ASSERT_TRUE(transaction.publish_sealed(offset, 100).ok());
    ASSERT_TRUE(transaction.set_root(root, offset).ok());
    ASSERT_TRUE(pool->commit(transaction).ok());
  }
  const Offset slot = pool->header().log_slots + 2 * pool_format::log_slot_bytes;
  region.commit();
  pool.reset();
  region.cut();
  std::memset(region.data() + slot, 0, pool_format::log_slot_bytes);
  auto again = std::move(Pool::open(region, "p")).value();
  EXPECT_EQ(again->root_names(), std::vector<std::string>{"a"});
}

TEST_P(PoolDamage, an_orderly_end_leaves_nothing_to_replay) {
  make("a");
  ASSERT_TRUE(pool_->close().ok());
  EXPECT_EQ(pool_->reserve(64).code(), Code::closed);
  EXPECT_EQ(pool_->commit(Transaction{}).code(), Code::closed);
  EXPECT_EQ(pool_->tend().code(), Code::closed);
  EXPECT_TRUE(pool_->root("a").ok());
  region_.cut();
  std::memset(slot(1), 0xff, pool_format::log_slot_bytes);
  expect_sound();
  EXPECT_EQ(pool_->replayed_records(), 0u);
  EXPECT_TRUE(pool_->root("a").ok());
}

TEST_P(PoolDamage, tending_moves_the_mark_to_the_newest_record_and_then_rests) {
  make("a");
  make("b");
  region_.commit_when_asked();
  const std::uint64_t blocked = region_.blocked();
  int turns = 0;
  while (*pool_->tend()) {
    ASSERT_LT(++turns, 10);
  }
  const std::uint64_t commits = region_.commits();
  EXPECT_FALSE(*pool_->tend());
  EXPECT_EQ(region_.commits(), commits);
  EXPECT_EQ(region_.blocked(), blocked);
  kill();
  region_.cut();
  expect_sound();
  EXPECT_EQ(pool_->replayed_records(), 0u);
}

TEST_P(PoolDamage, the_full_check_sees_damage_while_the_pool_is_open) {
  make("a");
  EXPECT_TRUE(pool_->check_in_full().ok());
  for (const Offset place :
       {Offset{100}, header_.roots + 8, header_.log_control, header_.log_control + 8,
        pool_format::total_place(header_), header_.summary, header_.table + 8,
        header_.table + 7 * sizeof(BlockEntry)}) {
    region_.data()[place] ^= std::byte{0x40};
    EXPECT_EQ(pool_->check_in_full().code(), Code::damaged) << place;
    region_.data()[place] ^= std::byte{0x40};
  }
  EXPECT_TRUE(pool_->check_in_full().ok());
}

TEST_P(PoolDamage, usage_is_counted_by_account) {
  make("a", 100, Account::store);
  make("b", 100, Account::files);
  make("c", 5000, Account::files);
  const AccountsUsage accounts = pool_->usage().accounts;
  EXPECT_EQ(accounts[0], AccountUsage{});
  EXPECT_EQ(accounts[1], (AccountUsage{1, 128}));
  EXPECT_EQ(accounts[3], (AccountUsage{2, 128 + 5120}));
  const auto chunk_of = [&](const char* root) { return *pool_->root(root) / 4096; };
  EXPECT_NE(chunk_of("a"), chunk_of("b"));
  kill();
  expect_sound();
  EXPECT_EQ(pool_->usage().accounts, accounts);
}

TEST_P(PoolDamage, a_pool_of_version_1_is_brought_up_to_date) {
  make("store", 100, Account::store);
  make("other", 9000);
  kill();
  region_.cut();
  make_version_one(region_.bytes());
  const std::vector<std::byte> older(region_.bytes().begin(), region_.bytes().end());
  expect_sound();
  EXPECT_EQ(pool_->found_version(), 1u);
  EXPECT_EQ(pool_->header().version, 2u);
  EXPECT_EQ(pool_->replayed_records(), 2u);
  EXPECT_EQ(pool_->usage().accounts[1], (AccountUsage{2, 128 + 12288}));
  make("more");
  kill();
  region_.cut();
  expect_sound();
  EXPECT_EQ(pool_->found_version(), 2u);
  EXPECT_EQ(pool_->root_names().size(), 3u);
  // One without a store belongs to nobody.
  std::memcpy(region_.data(), older.data(), older.size());
  region_.data()[header_.roots + offsetof(Root, name)] = std::byte{'S'};
  store(slot(1), std::uint64_t{0});
  store(slot(2), std::uint64_t{0});
  expect_sound();
  EXPECT_EQ(pool_->usage().accounts[1], AccountUsage{});
}

TEST_P(PoolDamage, a_pool_of_version_1_with_a_forgotten_chunk_is_not_brought_up_to_date) {
  make("a");
  Transaction unlink;
  ASSERT_TRUE(unlink.set_root("a", 0).ok());
  ASSERT_TRUE(pool_->wait(*pool_->commit(unlink)).ok());
  close();
  make_version_one(region_.bytes());
  store(region_.data() + header_.summary, std::uint64_t{0});
  expect_damaged("a chunk in a group that the summary calls empty");
  EXPECT_EQ(load<std::uint32_t>(region_.data() + 8), 1u);
}

class PoolSalvage : public PoolDamage {
 protected:
  PoolSalvage() {
    make("a");
    make("b", 9000);
    b_ = *pool_->root("b");
    close();
  }
  void open_damaged(Offset place) {
    Result<std::unique_ptr<Pool>> pool = Pool::open_damaged(region_, "p", findings_);
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    pool_ = std::move(pool).value();
    ASSERT_FALSE(findings_.empty());
    EXPECT_EQ(findings_.front().place, place) << findings_.front().what;
    EXPECT_EQ(pool_->root_names().size(), 2u);
    EXPECT_EQ(*pool_->root("b"), b_);
    EXPECT_EQ(pool_->reserve(64).code(), Code::damaged);
  }
  Offset b_ = 0;
  PoolFindings findings_;
};

INSTANTIATE_TEST_SUITE_P(media, PoolSalvage, testing::Values(Granularity::cache_line),
                         [](const auto&) { return "cache_line"; });

TEST_P(PoolSalvage, a_sound_pool_has_no_findings) {
  pool_ = std::move(Pool::open_damaged(region_, "p", findings_)).value();
  EXPECT_TRUE(findings_.empty());
  EXPECT_EQ(pool_->usage().object_count, 2u);
}

TEST_P(PoolSalvage, an_object_whose_entry_is_lost_can_be_adopted) {
  std::memset(region_.data() + header_.table + sizeof(BlockEntry), 0x55, sizeof(BlockEntry));
  open_damaged(header_.table + sizeof(BlockEntry));
  EXPECT_FALSE(pool_->is_live(b_));
  EXPECT_EQ(pool_->adopt(b_ + 1, 64).code(), Code::invalid_argument);
  EXPECT_EQ(pool_->adopt(0, 64).code(), Code::invalid_argument);
  EXPECT_EQ(pool_->adopt(header_.size_bytes - 64, 128).code(), Code::invalid_argument);
  ASSERT_TRUE(pool_->adopt(b_, 9000).ok());
  EXPECT_TRUE(pool_->is_live(b_));
  EXPECT_EQ(pool_->object(b_).size(), 9000u);
  EXPECT_EQ(pool_->object(b_).back(), std::byte{'x'});
}

TEST_P(PoolSalvage, goes_on_without_header_summary_and_log_control) {
  std::memset(region_.data() + header_.summary, 0, page_bytes);
  std::memset(region_.data() + header_.log_control, 0x55, 16);
  std::memset(region_.data() + 32, 0x55, 64);
  open_damaged(0);
  EXPECT_EQ(findings_.size(), 2u) << "records that are still there put the summary right";
  EXPECT_EQ(pool_->usage().object_count, 2u);
}

TEST_P(PoolSalvage, keeps_a_root_whose_checksum_is_wrong) {
  region_.data()[header_.roots + 4] ^= std::byte{1};
  open_damaged(header_.roots);
}

TEST_P(PoolSalvage, goes_on_behind_a_damaged_record) {
  expect_sound();
  make("a", 200);
  make("b", 300);
  b_ = *pool_->root("b");
  const std::uint64_t first = 3;
  kill();
  slot(first)[40] ^= std::byte{1};
  open_damaged(static_cast<Offset>(slot(first) - region_.data()));
  EXPECT_EQ(findings_.size(), 1u);
}

TEST_P(PoolSalvage, goes_on_with_a_mark_that_is_older_than_the_ring) {
  expect_sound();
  const std::vector<std::byte> old = page_at(header_.log_control);
  for (int i = 0; i < 60; ++i) {
    make("b", 300);
  }
  b_ = *pool_->root("b");
  kill();
  std::memcpy(region_.data() + header_.log_control, old.data(), 16);
  EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
  open_damaged(header_.log_control);
  EXPECT_EQ(findings_.size(), 1u);
}

TEST_P(PoolSalvage, refuses_what_is_no_pool_of_a_version_that_it_knows) {
  store(region_.data() + 8, std::uint32_t{9});
  EXPECT_EQ(Pool::open_damaged(region_, "p", findings_).code(), Code::unsupported);
  FakeRegion small(4096, Granularity::cache_line);
  EXPECT_FALSE(Pool::open_damaged(small, "p", findings_).ok());
}

}  // namespace
}  // namespace remora
