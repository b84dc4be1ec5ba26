// Rules that keep acknowledged data from being lost by misuse, and damage from being believed.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "pmem/allocator.h"
#include "pmem/file_commit.h"
#include "pmem/log_record.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool.h"
#include "pmem/pool_checks.h"

namespace remora {
namespace {

using pool_format::ChunkHead;
using pool_format::ChunkKind;
using pool_format::Header;

// A small pool with one object, under the root "r".
class PoolRules : public testing::TestWithParam<Granularity> {
 protected:
  PoolRules() : region_(1 << 20, GetParam()) {
    pool_ = std::move(Pool::create(region_, {})).value();
    object_ = *pool_->reserve(64);
  }

  void commit(const Transaction& transaction) {
    Result<Ticket> ticket = pool_->commit(transaction);
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    ASSERT_TRUE(pool_->wait(*ticket).ok());
  }

  void publish(bool sealed) {
    Transaction transaction;
    ASSERT_TRUE(
        (sealed ? transaction.publish_sealed(object_, 64) : transaction.publish(object_, 64)).ok());
    ASSERT_TRUE(transaction.set_root("r", object_).ok());
    commit(transaction);
  }

  Code set_word(Offset word) {
    Transaction transaction;
    EXPECT_TRUE(transaction.set(word, 7).ok());
    return pool_->commit(transaction).code();
  }

  FakeRegion region_;
  std::unique_ptr<Pool> pool_;
  Offset object_ = 0;
};

INSTANTIATE_TEST_SUITE_P(media, PoolRules,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(PoolRules, a_word_in_content_sealed_by_the_same_transaction_is_refused) {
  Transaction transaction;
  ASSERT_TRUE(transaction.publish_sealed(object_, 64).ok());
  ASSERT_TRUE(transaction.set(object_ + 8, 7).ok());
  EXPECT_EQ(pool_->commit(transaction).code(), Code::invalid_argument);
}

TEST_P(PoolRules, a_word_in_sealed_content_is_refused_while_its_record_may_be_replayed) {
  publish(true);
  EXPECT_EQ(set_word(object_ + 8), Code::invalid_argument);
}

TEST_P(PoolRules, a_word_in_other_content_may_be_set) {
  publish(false);
  EXPECT_EQ(set_word(object_ + 8), Code::ok);
}

TEST_P(PoolRules, a_word_in_an_object_that_is_freed_is_refused) {
  publish(false);
  Transaction transaction;
  ASSERT_TRUE(transaction.set_root("r", 0).ok());
  ASSERT_TRUE(transaction.free(object_).ok());
  ASSERT_TRUE(transaction.set(object_, 3).ok());
  EXPECT_EQ(pool_->commit(transaction).code(), Code::invalid_argument);
}

TEST_P(PoolRules, two_roots_of_one_name_are_damage) {
  publish(false);
  pool_ = std::move(Pool::open(region_, "p")).value();
  std::byte* const roots = region_.data() + pool_->header().roots;
  std::memcpy(roots + sizeof(pool_format::Root), roots, sizeof(pool_format::Root));
  EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
}

TEST_P(PoolRules, a_root_name_with_bytes_behind_its_end_is_damage) {
  publish(false);
  pool_ = std::move(Pool::open(region_, "p")).value();
  region_.data()[pool_->header().roots + offsetof(pool_format::Root, name) + 3] = std::byte{'x'};
  EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
}

TEST_P(PoolRules, a_chunk_that_the_summary_forgot_is_damage) {
  publish(false);
  Transaction transaction;
  ASSERT_TRUE(transaction.set_root("r", 0).ok());
  commit(transaction);
  pool_ = std::move(Pool::open(region_, "p")).value();
  EXPECT_TRUE(pool_->check_in_full().ok());
  store(region_.data() + pool_->header().summary, std::uint64_t{0});
  EXPECT_EQ(pool_->check_in_full().code(), Code::damaged);
  EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
}

TEST_P(PoolRules, what_lies_where_the_summary_names_nothing_is_found_by_the_full_check) {
  store(region_.data() + pool_->header().table + 5 * sizeof(pool_format::BlockEntry), 77);
  pool_ = std::move(Pool::open(region_, "p")).value();
  EXPECT_EQ(pool_->check_in_full().code(), Code::damaged);
}

TEST_P(PoolRules, a_pool_refused_as_damaged_is_unchanged_and_named) {
  store(region_.data() + pool_->header().summary, std::uint64_t{1});
  const std::vector<std::byte> before(region_.bytes().begin(), region_.bytes().end());
  const Status status = Pool::open(region_, "the-name").status();
  EXPECT_EQ(status.code(), Code::damaged);
  EXPECT_NE(status.message().find("the-name"), std::string_view::npos);
  EXPECT_EQ(std::memcmp(before.data(), region_.data(), before.size()), 0);
}

TEST(PoolFailure, closes_the_pool_for_cancel_too) {
  FakeRegion region(1 << 20, Granularity::page);
  auto pool = std::move(Pool::create(region, {})).value();
  const Offset first = *pool->reserve(64);
  const Offset second = *pool->reserve(64);
  region.fail();
  Transaction transaction;
  ASSERT_TRUE(transaction.publish(first, 64).ok());
  ASSERT_FALSE(pool->commit(transaction).ok());
  EXPECT_EQ(pool->cancel(second).code(), Code::io_error);
}

TEST(PoolFailure, is_noticed_by_a_transaction_that_waits_for_nothing) {
  FakeRegion region(1 << 20, Granularity::page);
  auto pool = std::move(Pool::create(region, {})).value();
  const Offset object = *pool->reserve(64);
  Transaction transaction;
  ASSERT_TRUE(transaction.publish_sealed(object, 64).ok());
  region.fail();
  EXPECT_EQ(pool->commit(transaction).code(), Code::io_error);
  EXPECT_EQ(pool->reserve(64).code(), Code::io_error);
}

TEST(ChunkWithoutKind, is_damage) {
  const Header header = pool_format::plan(8 << 20, {});
  std::vector<std::byte> pool(header.blocks);
  store(pool.data() + header.summary, std::uint64_t{1});
  store(pool.data() + header.table, pool_format::head_word({ChunkKind::none, 0, 1}, 0, 1));
  store(pool.data() + header.table + word_bytes, std::uint64_t{1});
  EXPECT_EQ(Allocator(header).load(pool).code(), Code::damaged);
}

TEST(FileCommitFailure, is_an_io_error_whatever_the_reason) {
  std::vector<std::byte> memory(page_bytes);
  FileCommit commit(memory, [](std::byte*, std::size_t) { return ENOSPC; });
  commit.add(memory);
  EXPECT_EQ(commit.wait(commit.draw()).code(), Code::io_error);
}

TEST(RedoLogRecord, cannot_name_the_log_itself) {
  const Header header = pool_format::plan(256 << 10, {});
  for (const Offset place :
       {header.log_control, header.log_control + 8, pool_format::total_place(header) - 8,
        pool_format::total_place(header) + 8, header.log_slots}) {
    FakeRegion region(256 << 10, Granularity::cache_line);
    std::byte* const slot = region.data() + header.log_slots + pool_format::log_slot_bytes;
    const pool_format::RecordHead head{1, 0, 1, 0, 1, 0};
    const pool_format::Write write{place, 99};
    std::memcpy(slot, &head, sizeof head);
    std::memcpy(slot + sizeof head, &write, sizeof write);
    store(slot + offsetof(pool_format::RecordHead, checksum), log_record::checksum_of(slot, head));
    RedoLog::format(region, header);
    RedoLog log(region, header, Faults());
    EXPECT_EQ(*log.recover(), 0u) << place;
  }
}

}  // namespace
}  // namespace remora
