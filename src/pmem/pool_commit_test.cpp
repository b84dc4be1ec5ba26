// What a pool refuses, and that a refusal changes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "pmem/pmem_testing.h"
#include "pmem/pool.h"

namespace remora {
namespace {

class PoolCommit : public testing::Test {
 protected:
  PoolCommit() : pool_(std::move(Pool::create(region_, {})).value()) {
    live_ = publish(100);
    other_ = publish(5000);
    Transaction transaction;
    EXPECT_TRUE(transaction.set_root("r", live_).ok());
    EXPECT_TRUE(pool_->commit(transaction).ok());
    reserved_ = *pool_->reserve(100);
  }

  Offset publish(std::uint64_t size_bytes) {
    const Offset offset = *pool_->reserve(size_bytes);
    Transaction transaction;
    EXPECT_TRUE(transaction.publish(offset, size_bytes).ok());
    EXPECT_TRUE(pool_->commit(transaction).ok());
    return offset;
  }
  void expect_refused(const Transaction& transaction, Code code = Code::invalid_argument) {
    const std::vector<std::byte> before(region_.bytes().begin(), region_.bytes().end());
    const PoolUsage usage = pool_->usage();
    Result<Ticket> ticket = pool_->commit(transaction);
    EXPECT_EQ(ticket.code(), code) << ticket.status().message();
    EXPECT_FALSE(ticket.status().message().empty());
    EXPECT_TRUE(std::ranges::equal(before, region_.bytes())) << "bytes changed";
    EXPECT_EQ(pool_->usage().object_count, usage.object_count);
    EXPECT_EQ(pool_->usage().free_bytes, usage.free_bytes);
    EXPECT_EQ(pool_->root_names(), std::vector<std::string>{"r"});
    EXPECT_EQ(*pool_->root("r"), live_);
    expect_still_works();
  }
  void expect_still_works() {
    const Offset offset = publish(64);
    Transaction transaction;
    ASSERT_TRUE(transaction.free(offset).ok());
    EXPECT_TRUE(pool_->commit(transaction).ok());
    EXPECT_TRUE(pool_->is_live(live_));
    EXPECT_TRUE(pool_->is_live(other_));
    EXPECT_FALSE(pool_->is_live(reserved_));
  }

  FakeRegion region_{1 << 20, Granularity::cache_line};
  std::unique_ptr<Pool> pool_;
  Offset live_;
  Offset other_;
  Offset reserved_;
  Transaction transaction_;
};

TEST_F(PoolCommit, refuses_to_publish_what_is_not_reserved) {
  ASSERT_TRUE(transaction_.publish(reserved_ + 128, 64).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_publish_what_is_live) {
  ASSERT_TRUE(transaction_.publish(live_, 64).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_publish_the_middle_of_an_object) {
  ASSERT_TRUE(transaction_.publish(reserved_ + 64, 64).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_places_that_are_no_blocks) {
  for (const Offset offset : {Offset{0}, Offset{4096}, pool_->header().size_bytes, ~Offset{63}}) {
    Transaction publishes;
    ASSERT_TRUE(publishes.publish(offset, 1).ok());
    expect_refused(publishes);
    Transaction frees;
    ASSERT_TRUE(frees.free(offset).ok());
    expect_refused(frees);
    Transaction sets;
    ASSERT_TRUE(sets.set(offset, 1).ok());
    expect_refused(sets);
  }
}

TEST_F(PoolCommit, refuses_content_larger_than_the_object) {
  ASSERT_TRUE(transaction_.publish(reserved_, 129).ok());
  expect_refused(transaction_);
  Transaction sealed;
  ASSERT_TRUE(sealed.publish_sealed(reserved_, 64 << 20).ok());
  expect_refused(sealed);
}

TEST_F(PoolCommit, takes_content_as_large_as_the_object) {
  ASSERT_TRUE(transaction_.publish(reserved_, 128).ok());
  EXPECT_TRUE(pool_->commit(transaction_).ok());
  EXPECT_TRUE(pool_->is_live(reserved_));
}

TEST_F(PoolCommit, refuses_to_publish_one_object_twice) {
  ASSERT_TRUE(transaction_.publish(reserved_, 1).ok());
  ASSERT_TRUE(transaction_.publish_sealed(reserved_, 2).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_free_one_object_twice) {
  ASSERT_TRUE(transaction_.free(other_).ok());
  ASSERT_TRUE(transaction_.free(other_).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_free_what_was_freed_before) {
  const Offset offset = publish(64);
  ASSERT_TRUE(transaction_.free(offset).ok());
  ASSERT_TRUE(pool_->commit(transaction_).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_free_what_is_only_reserved) {
  ASSERT_TRUE(transaction_.free(reserved_).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_publish_and_free_in_one) {
  ASSERT_TRUE(transaction_.publish(reserved_, 1).ok());
  ASSERT_TRUE(transaction_.free(reserved_).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_a_word_outside_of_any_object) {
  ASSERT_TRUE(transaction_.set(reserved_ + 128, 1).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_a_word_in_an_object_that_is_only_reserved) {
  ASSERT_TRUE(transaction_.set(reserved_, 1).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_a_word_in_the_pools_own_parts) {
  const pool_format::Header& header = pool_->header();
  for (const Offset part :
       {header.roots, header.log_control, header.log_slots, header.summary, header.table}) {
    Transaction transaction;
    ASSERT_TRUE(transaction.set(part, 1).ok());
    expect_refused(transaction);
  }
}

TEST_F(PoolCommit, refuses_to_free_what_a_root_leads_to) {
  ASSERT_TRUE(transaction_.free(live_).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_a_root_to_what_it_frees) {
  ASSERT_TRUE(transaction_.free(other_).ok());
  ASSERT_TRUE(transaction_.set_root("x", other_).ok());
  expect_refused(transaction_);
  Transaction same;
  ASSERT_TRUE(same.free(live_).ok());
  ASSERT_TRUE(same.set_root("r", live_).ok());
  expect_refused(same);
}

TEST_F(PoolCommit, refuses_a_root_to_what_is_not_live) {
  for (const Offset offset : {reserved_, live_ + 64, Offset{4096}, ~Offset{0}}) {
    Transaction transaction;
    ASSERT_TRUE(transaction.set_root("x", offset).ok());
    expect_refused(transaction);
  }
}

TEST_F(PoolCommit, refuses_one_root_twice) {
  ASSERT_TRUE(transaction_.set_root("x", live_).ok());
  ASSERT_TRUE(transaction_.set_root("x", other_).ok());
  expect_refused(transaction_);
}

TEST_F(PoolCommit, refuses_to_remove_a_root_that_is_not_there) {
  ASSERT_TRUE(transaction_.set_root("x", 0).ok());
  expect_refused(transaction_, Code::not_found);
}

TEST_F(PoolCommit, one_bad_part_spoils_the_whole_transaction) {
  ASSERT_TRUE(transaction_.publish(reserved_, 100).ok());
  ASSERT_TRUE(transaction_.free(other_).ok());
  ASSERT_TRUE(transaction_.set(live_, 1).ok());
  ASSERT_TRUE(transaction_.set_root("r", reserved_).ok());
  ASSERT_TRUE(transaction_.set_root("not there", 0).ok());
  expect_refused(transaction_, Code::not_found);
}

TEST_F(PoolCommit, the_space_of_a_freed_object_waits_for_the_log) {
  Transaction transaction;
  ASSERT_TRUE(transaction.free(other_).ok());
  ASSERT_TRUE(pool_->commit(transaction).ok());
  EXPECT_NE(*pool_->reserve(5000), other_);
}

TEST_F(PoolCommit, cancel_refuses_what_is_not_reserved) {
  for (const Offset offset : {live_, reserved_ + 64, Offset{0}, ~Offset{0}}) {
    EXPECT_EQ(pool_->cancel(offset).code(), Code::invalid_argument);
  }
  EXPECT_TRUE(pool_->is_live(live_));
}

// Damage that only recovery can see: a root that leads to nothing.
TEST_F(PoolCommit, open_refuses_roots_that_lead_nowhere) {
  const Offset root = pool_->header().roots;
  pool_.reset();
  ASSERT_TRUE(Pool::open(region_, "the pool").ok());  // from here on no replay mends the root
  for (const Offset offset : {Offset{0}, live_ + 64, reserved_, ~Offset{0}}) {
    store(region_.data() + root + offsetof(pool_format::Root, value), offset);
    EXPECT_EQ(Pool::open(region_, "the pool").code(), Code::damaged);
  }
  store(region_.data() + root + offsetof(pool_format::Root, value), live_);
  EXPECT_TRUE(Pool::open(region_, "the pool").ok());
  store(region_.data() + root, std::uint64_t{2});
  EXPECT_EQ(Pool::open(region_, "the pool").code(), Code::damaged);
  store(region_.data() + root, std::uint64_t{1});
  std::memset(region_.data() + root + offsetof(pool_format::Root, name), 0, 48);
  EXPECT_EQ(Pool::open(region_, "the pool").code(), Code::damaged);
}

}  // namespace
}  // namespace remora
