// Runs of a pool: at a place, as much as there is, one as two, and the end given back.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/random.h"
#include "pmem/pmem_testing.h"
#include "pmem/pool.h"

namespace remora {
namespace {

using pool_format::block_bytes;

class PoolRuns : public testing::TestWithParam<Granularity> {
 protected:
  PoolRuns() : pool_(std::move(Pool::create(region_, no_uuid)).value()) {}

  Offset make(std::uint64_t blocks) {
    const Offset offset = *pool_->reserve(blocks * block_bytes, Account::files);
    Transaction transaction;
    EXPECT_TRUE(transaction.publish(offset, 0).ok());
    commit(transaction);
    return offset;
  }
  void commit(const Transaction& transaction) {
    const Result<Ticket> ticket = pool_->commit(transaction);
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    ASSERT_TRUE(pool_->wait(*ticket).ok());
  }
  void free(Offset offset) {
    Transaction transaction;
    ASSERT_TRUE(transaction.free(offset).ok());
    commit(transaction);
  }
  void reopen() {
    pool_.reset();
    pool_ = std::move(Pool::open(region_, "the pool")).value();
    ASSERT_TRUE(pool_->check_in_full().ok());
  }

  FakeRegion region_{2 << 20, GetParam()};
  std::unique_ptr<Pool> pool_;
};

INSTANTIATE_TEST_SUITE_P(media, PoolRuns,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page ? "page" : "cache_line";
                         });

TEST_P(PoolRuns, are_reserved_at_a_place_that_is_free) {
  const Offset first = make(4);
  const Result<Offset> next =
      pool_->reserve_at(first + 4 * block_bytes, 3 * block_bytes, Account::files);
  ASSERT_TRUE(next.ok()) << next.status().message();
  EXPECT_EQ(*next, first + 4 * block_bytes);
  EXPECT_EQ(pool_->object(*next).size(), 3 * block_bytes);
  EXPECT_EQ(pool_->reserve_at(*next, block_bytes).code(), Code::no_space);
  EXPECT_EQ(pool_->reserve_at(*next + 64, block_bytes).code(), Code::no_space);
  EXPECT_EQ(pool_->reserve_at(0, block_bytes).code(), Code::no_space);
  EXPECT_EQ(pool_->reserve_at(pool_->size_bytes(), block_bytes).code(), Code::no_space);
  EXPECT_EQ(pool_->reserve_at(*next, 0).code(), Code::invalid_argument);
  ASSERT_TRUE(pool_->cancel(*next).ok());
  EXPECT_TRUE(pool_->reserve_at(*next, block_bytes).ok());
}

TEST_P(PoolRuns, are_the_most_there_is) {
  const std::uint64_t largest = pool_->usage().largest_free_bytes;
  const Result<ReservedRun> some = pool_->reserve_most(10000, Account::files);
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->size_bytes, 10000u);
  const Result<ReservedRun> rest = pool_->reserve_most(64 << 20, Account::files);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->size_bytes, largest - 3 * block_bytes);
  EXPECT_EQ(pool_->reserve_most(1, Account::files).code(), Code::no_space);
  ASSERT_TRUE(pool_->cancel(rest->offset).ok());
}

TEST_P(PoolRuns, leave_the_room_that_is_kept_for_others) {
  const std::uint64_t free = pool_->usage().free_bytes;
  ASSERT_TRUE(pool_->keep(Account::store, free - 5 * block_bytes).ok());
  EXPECT_EQ(pool_->reserve_most(64 << 20, Account::files)->size_bytes, 5 * block_bytes);
  const Status refused = pool_->reserve_most(block_bytes, Account::files).status();
  EXPECT_EQ(refused.code(), Code::no_space);
  EXPECT_NE(refused.message().find("store"), std::string_view::npos) << refused.message();
}

TEST_P(PoolRuns, are_split_and_both_parts_live) {
  const Offset run = make(5);
  std::memset(pool_->object(run).data(), 0x5a, 5 * block_bytes);
  const PoolUsage before = pool_->usage();
  const Result<Ticket> ticket = pool_->split(run, 2 * block_bytes);
  ASSERT_TRUE(ticket.ok()) << ticket.status().message();
  ASSERT_TRUE(pool_->wait(*ticket).ok());
  const Offset second = run + 2 * block_bytes;
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(pool_->is_live(run) && pool_->is_live(second));
    EXPECT_EQ(pool_->object(run).size(), 2 * block_bytes);
    EXPECT_EQ(pool_->object(second).size(), 3 * block_bytes);
    EXPECT_EQ(pool_->object_at(second - 1), run);
    EXPECT_EQ(pool_->object_at(second + block_bytes), second);
    EXPECT_EQ(pool_->usage().object_count, before.object_count + 1);
    EXPECT_EQ(pool_->usage().object_bytes, before.object_bytes);
    EXPECT_EQ(pool_->object(second)[100], std::byte{0x5a});
    reopen();
  }
}

TEST_P(PoolRuns, give_their_end_back) {
  const Offset run = make(5);
  ASSERT_TRUE(pool_->split(run, block_bytes).ok());
  free(run + block_bytes);
  ASSERT_TRUE(pool_->close().ok());
  reopen();
  EXPECT_TRUE(pool_->is_live(run));
  EXPECT_FALSE(pool_->is_live(run + block_bytes));
  EXPECT_TRUE(pool_->reserve_at(run + block_bytes, 4 * block_bytes, Account::files).ok());
}

TEST_P(PoolRuns, are_split_while_they_are_reserved) {
  const Offset run = *pool_->reserve(4 * block_bytes, Account::files);
  ASSERT_TRUE(pool_->split(run, 3 * block_bytes).ok());
  Transaction transaction;
  ASSERT_TRUE(transaction.publish(run, 0).ok());
  commit(transaction);
  ASSERT_TRUE(pool_->cancel(run + 3 * block_bytes).ok());
  reopen();
  EXPECT_EQ(pool_->object(run).size(), 3 * block_bytes);
}

TEST_P(PoolRuns, refuse_a_split_that_cannot_be) {
  const Offset run = make(2);
  const Offset small = *pool_->reserve(1000);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{100}, 2 * block_bytes}) {
    EXPECT_EQ(pool_->split(run, size).code(), Code::invalid_argument) << size;
  }
  EXPECT_EQ(pool_->split(run + block_bytes, block_bytes).code(), Code::invalid_argument);
  EXPECT_EQ(pool_->split(small, block_bytes).code(), Code::invalid_argument);
  free(run);
  EXPECT_EQ(pool_->split(run, block_bytes).code(), Code::invalid_argument);
}

// Runs are taken, split and freed at random, and the table always says the same as a list.
TEST_P(PoolRuns, agree_with_a_list_of_what_lives) {
  std::map<Offset, std::uint64_t> live;
  Random random(11);
  for (int step = 0; step < 2000; ++step) {
    const auto chosen =
        live.empty()
            ? live.end()
            : std::next(live.begin(), static_cast<std::ptrdiff_t>(random.below(live.size())));
    const std::uint64_t die = random.below(10);
    if (die < 4 || chosen == live.end()) {
      const std::uint64_t blocks = random.between(1, 9);
      const Result<ReservedRun> run =
          chosen != live.end() && die < 2 ? [&]() -> Result<ReservedRun> {
        REMORA_TRY_RESULT(at, pool_->reserve_at(chosen->first + chosen->second,
                                                blocks * block_bytes, Account::files));
        return ReservedRun{*at, blocks * block_bytes};
      }()
          : pool_->reserve_most(blocks * block_bytes, Account::files);
      if (run.ok()) {
        Transaction transaction;
        ASSERT_TRUE(transaction.publish(run->offset, 0).ok());
        commit(transaction);
        live[run->offset] = run->size_bytes;
      }
    } else if (die < 7 && chosen->second > block_bytes) {
      const std::uint64_t first = random.between(1, chosen->second / block_bytes - 1) * block_bytes;
      ASSERT_TRUE(pool_->split(chosen->first, first).ok());
      live[chosen->first + first] = chosen->second - first;
      chosen->second = first;
    } else {
      free(chosen->first);
      live.erase(chosen);
    }
    if (step % 500 == 499) {
      reopen();
    }
  }
  std::map<Offset, std::uint64_t> found;
  pool_->for_each_object([&](Offset offset, std::uint64_t size) { found[offset] = size; });
  EXPECT_EQ(found, live);
}

}  // namespace
}  // namespace remora
