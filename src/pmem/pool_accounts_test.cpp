// Services that share a pool: whose space is whose, over power cuts, and whose roots.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pmem/pmem_testing.h"
#include "pmem/pool.h"

namespace remora {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PoolAccounts : public testing::TestWithParam<Granularity> {
 protected:
  static constexpr std::uint64_t block = pool_format::block_bytes;

  // Makes an object of so many blocks live, under a root if one is named.
  Result<Offset> make(Account account, std::uint64_t blocks, const std::string& root = "") {
    Result<Offset> offset = pool_->reserve(blocks * block, account);
    if (!offset.ok()) {
      return offset;
    }
    Transaction transaction;
    REMORA_TRY(transaction.publish(*offset, 0));
    if (!root.empty()) {
      REMORA_TRY(transaction.set_root(root, *offset));
    }
    REMORA_TRY(perform(transaction));
    return offset;
  }
  Status free(Offset offset) {
    Transaction transaction;
    REMORA_TRY(transaction.free(offset));
    return perform(transaction);
  }
  Status perform(const Transaction& transaction) {
    Result<Ticket> ticket = pool_->commit(transaction);
    return ticket.ok() ? pool_->wait(*ticket) : ticket.status();
  }
  void cut_and_open() {
    pool_.reset();
    region_.cut();
    pool_ = Pool::open(region_, "the test's pool").value();
  }
  std::uint64_t free_blocks() const { return pool_->usage().free_bytes / block; }

  std::vector<Offset> copies_;
  FakeRegion region_{4 << 20, GetParam()};
  std::unique_ptr<Pool> pool_ = Pool::create(region_, no_uuid).value();
};

INSTANTIATE_TEST_SUITE_P(Media, PoolAccounts,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(PoolAccounts, what_each_service_holds_is_known_after_a_power_cut) {
  ASSERT_TRUE(make(Account::store, 10, "store").ok());
  ASSERT_TRUE(make(Account::files, 20, "files/tree").ok());
  ASSERT_TRUE(pool_->reserve(30 * block, Account::files).ok());
  EXPECT_EQ(pool_->room(Account::files).held_bytes, 50 * block);
  cut_and_open();
  EXPECT_EQ(pool_->room(Account::store).held_bytes, 10 * block);
  EXPECT_EQ(pool_->room(Account::files).held_bytes, 20 * block);
}

TEST_P(PoolAccounts, room_is_kept_for_a_service_until_the_pool_is_closed) {
  const std::uint64_t all = free_blocks();
  ASSERT_TRUE(pool_->keep(Account::store, 100 * block).ok());
  EXPECT_EQ(pool_->room(Account::store).kept_bytes, 100 * block);
  EXPECT_EQ(pool_->room(Account::store).free_bytes, all * block);
  EXPECT_EQ(pool_->room(Account::files).free_bytes, (all - 100) * block);
  const Result<Offset> refused = make(Account::files, all - 99);
  EXPECT_EQ(refused.code(), Code::no_space);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("for store"));
  cut_and_open();
  EXPECT_EQ(pool_->room(Account::store).kept_bytes, 0u);
  EXPECT_TRUE(make(Account::files, all - 99).ok());
}

// As a log does when it cleans: it copies to what was kept, and frees what it has copied.
TEST_P(PoolAccounts, a_service_cleans_with_its_own_room_while_another_fills_the_pool) {
  const Offset old = *make(Account::store, 100);
  ASSERT_TRUE(pool_->keep(Account::store, 200 * block).ok());
  while (make(Account::files, 1).ok()) {
  }
  EXPECT_EQ(free_blocks(), 100u);
  for (int round = 0; round < 5; ++round) {
    const Result<Offset> copy = make(Account::store, 100);
    ASSERT_TRUE(copy.ok()) << copy.status().message();
    EXPECT_EQ(make(Account::files, 1).code(), Code::no_space);
    ASSERT_TRUE(free(round == 0 ? old : copies_.back()).ok());
    copies_.push_back(*copy);
    EXPECT_EQ(make(Account::files, 1).code(), Code::no_space);
  }
}

TEST_P(PoolAccounts, room_that_another_service_holds_is_not_kept) {
  ASSERT_TRUE(make(Account::files, 100).ok());
  const std::uint64_t rest = free_blocks();
  EXPECT_EQ(pool_->keep(Account::store, (rest + 1) * block).code(), Code::no_space);
  EXPECT_EQ(pool_->room(Account::store).kept_bytes, 0u);
  EXPECT_TRUE(pool_->keep(Account::store, rest * block).ok());
}

TEST_P(PoolAccounts, a_root_of_a_service_leads_to_its_objects_alone) {
  EXPECT_EQ(make(Account::files, 1, "store").code(), Code::invalid_argument);
  EXPECT_EQ(make(Account::none, 1, "calls/queue").code(), Code::invalid_argument);
  EXPECT_TRUE(make(Account::calls, 1, "calls/queue").ok());
  EXPECT_TRUE(make(Account::files, 1, "storehouse").ok());
  EXPECT_TRUE(make(Account::files, 1, "files").ok());
}

TEST_P(PoolAccounts, each_service_finds_its_roots) {
  for (const auto& [account, name] :
       {std::pair{Account::store, "store"}, std::pair{Account::calls, "calls/a"},
        std::pair{Account::calls, "calls/b"}, std::pair{Account::store, "callsign"}}) {
    ASSERT_TRUE(make(account, 1, name).ok());
  }
  cut_and_open();
  EXPECT_THAT(pool_->root_names(Account::store), ElementsAre("store"));
  EXPECT_THAT(pool_->root_names(Account::calls), ElementsAre("calls/a", "calls/b"));
  EXPECT_THAT(pool_->root_names(Account::files), ElementsAre());
  EXPECT_THAT(pool_->root_names(Account::none), ElementsAre("callsign"));
}

TEST(OwnerOfRoot, is_the_service_that_its_name_begins_with) {
  EXPECT_EQ(owner_of_root("store"), Account::store);
  EXPECT_EQ(owner_of_root("memory/page table"), Account::memory);
  EXPECT_EQ(owner_of_root("memory/"), Account::memory);
  EXPECT_EQ(owner_of_root("erda-table"), Account::none);
  EXPECT_EQ(owner_of_root("none"), Account::none);
  EXPECT_EQ(owner_of_root("/store"), Account::none);
  EXPECT_EQ(owner_of_root(""), Account::none);
}

}  // namespace
}  // namespace remora
