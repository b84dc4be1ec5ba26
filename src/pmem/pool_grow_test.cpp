// Pools that become larger, on both kinds of media. Cuts on the way are the crash world's
// (lab/crash/growth_cut_test.cpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "pmem/pmem_testing.h"
#include "pmem/pool.h"
#include "pmem/version_one_testing.h"

namespace remora {
namespace {

constexpr std::uint64_t first_bytes = 256 << 10;
constexpr std::uint64_t all_bytes = 2 << 20;

class PoolGrow : public testing::TestWithParam<Granularity> {
 protected:
  PoolGrow() : region_(all_bytes, GetParam()) {
    // What lies behind a pool may be anything.
    std::ranges::fill(region_.bytes().subspan(first_bytes), std::byte{0xa5});
    EXPECT_TRUE(region_.wait(region_.persist(region_.bytes())).ok());
    pool_ = std::move(Pool::create(region_, no_uuid, Faults(), first_bytes)).value();
  }
  // A chain of objects, whole blocks, that ends when there is no room; how many they are.
  std::size_t fill_up() {
    std::size_t made = 0;
    for (;; ++made) {
      const Result<Offset> offset = pool_->reserve(object_bytes);
      if (!offset.ok()) {
        EXPECT_EQ(offset.code(), Code::no_space);
        return made;
      }
      put(*offset);
    }
  }
  void put(Offset offset) {
    std::memset(pool_->object(offset).data(), static_cast<int>(++number_), object_bytes);
    const Result<Offset> head = pool_->root("chain");
    store(pool_->object(offset).data(), head.ok() ? *head : std::uint64_t{0});
    Transaction transaction;
    ASSERT_TRUE(transaction.publish_sealed(offset, object_bytes).ok());
    ASSERT_TRUE(transaction.set_root("chain", offset).ok());
    const Result<Ticket> ticket = pool_->commit(transaction);
    ASSERT_TRUE(ticket.ok()) << ticket.status().message();
    ASSERT_TRUE(pool_->wait(*ticket).ok());
  }
  // Every object is there and whole, newest first.
  void expect_all() {
    std::uint64_t number = number_;
    const Result<Offset> head = pool_->root("chain");
    for (Offset at = head.ok() ? *head : 0; at != 0; --number) {
      ASSERT_TRUE(pool_->is_live(at));
      const Bytes object = pool_->object(at);
      EXPECT_EQ(object.back(), static_cast<std::byte>(number));
      at = load<std::uint64_t>(object.data());
    }
    EXPECT_EQ(number, 0u);
    EXPECT_EQ(pool_->usage().object_count, number_);
    const Status whole = pool_->check_in_full();
    EXPECT_TRUE(whole.ok()) << whole.message();
  }
  void reopen() {
    pool_.reset();
    region_.cut();
    Result<std::unique_ptr<Pool>> pool = Pool::open(region_, "p");
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    pool_ = std::move(pool).value();
  }

  static constexpr std::uint64_t object_bytes = 8192;
  FakeRegion region_;
  std::unique_ptr<Pool> pool_;
  std::uint64_t number_ = 0;
};

INSTANTIATE_TEST_SUITE_P(media, PoolGrow,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const auto& media) {
                           return media.param == Granularity::page ? "page" : "cache_line";
                         });

// Between any two steps the pool is used as ever.
TEST_P(PoolGrow, it_grows_in_steps_while_it_is_used) {
  const auto put_one = [this] {
    const Result<Offset> offset = pool_->reserve(object_bytes);
    ASSERT_TRUE(offset.ok());
    put(*offset);
  };
  Pool::Growth growth = std::move(pool_->begin_growth(all_bytes)).value();
  put_one();
  std::optional<Ticket> written;
  std::size_t steps = 0;
  for (; !written; ++steps) {
    written = pool_->write_growth(growth, 1000);
    put_one();
  }
  EXPECT_GT(steps, 3u);
  ASSERT_TRUE(pool_->wait(*written).ok());
  const Ticket counted = pool_->count_growth(growth);
  put_one();
  EXPECT_EQ(pool_->size_bytes(), first_bytes) << "its new room is not used yet";
  ASSERT_TRUE(pool_->wait(counted).ok());
  put_one();
  pool_->end_growth(std::move(growth));
  EXPECT_EQ(pool_->size_bytes(), all_bytes);
  EXPECT_GT(fill_up(), 100u);
  expect_all();
  reopen();
  EXPECT_EQ(pool_->size_bytes(), all_bytes);
  expect_all();
}

TEST_P(PoolGrow, a_growth_that_is_not_gone_on_with_changes_nothing) {
  Pool::Growth growth = std::move(pool_->begin_growth(all_bytes)).value();
  const std::optional<Ticket> written = pool_->write_growth(growth, all_bytes);
  ASSERT_TRUE(written && pool_->wait(*written).ok());
  fill_up();
  expect_all();
  reopen();
  EXPECT_EQ(pool_->size_bytes(), first_bytes);
  expect_all();
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  expect_all();
}

TEST_P(PoolGrow, a_full_pool_has_room_again_and_keeps_what_it_has) {
  const std::size_t before = fill_up();
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  EXPECT_EQ(pool_->size_bytes(), 1u << 20);
  EXPECT_EQ(pool_->usage().size_bytes, 1u << 20);
  expect_all();
  EXPECT_GT(fill_up(), 2 * before);
  expect_all();
  reopen();
  EXPECT_EQ(pool_->found_version(), pool_format::grown_version);
  EXPECT_EQ(pool_->size_bytes(), 1u << 20);
  expect_all();
  EXPECT_EQ(pool_->reserve(object_bytes).code(), Code::no_space);
}

TEST_P(PoolGrow, what_is_free_is_what_pieces_have) {
  const std::uint64_t before = pool_->usage().free_bytes;
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  const std::uint64_t added = pool_->layout().pieces()[1].block_count * pool_format::block_bytes;
  EXPECT_GT(added, (1 << 20) - first_bytes - 4 * pool_format::block_bytes);
  EXPECT_EQ(pool_->usage().free_bytes, before + added);
  EXPECT_EQ(pool_->usage().largest_free_bytes, added) << "pieces do not join";
  reopen();
  EXPECT_EQ(pool_->usage().free_bytes, before + added);
  EXPECT_EQ(pool_->usage().largest_free_bytes, added);
}

TEST_P(PoolGrow, grows_again_and_again) {
  for (std::uint64_t size = first_bytes + (128 << 10); size <= all_bytes; size += 128 << 10) {
    ASSERT_TRUE(pool_->grow(size).ok()) << size;
    put(*pool_->reserve(object_bytes));
    reopen();
    ASSERT_EQ(pool_->size_bytes(), size);
    expect_all();
  }
  fill_up();
  reopen();
  expect_all();
}

TEST_P(PoolGrow, no_object_lies_in_a_table) {
  for (const std::uint64_t size : {all_bytes / 4, all_bytes / 2, all_bytes}) {
    ASSERT_TRUE(pool_->grow(size).ok());
  }
  fill_up();
  while (pool_->reserve(64).ok()) {
  }
  reopen();
  pool_->for_each_object([this](Offset offset, std::uint64_t size_bytes) {
    for (const PoolPiece& piece : pool_->layout().pieces()) {
      const Offset blocks = pool_->layout().place_of(piece.first_block);
      EXPECT_TRUE(offset + size_bytes <= piece.summary || offset >= blocks);
    }
    EXPECT_LE(offset + size_bytes, pool_->size_bytes());
  });
}

TEST_P(PoolGrow, records_that_name_the_new_piece_are_replayed) {
  fill_up();
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  put(*pool_->reserve(object_bytes));
  put(*pool_->reserve(object_bytes));
  reopen();
  EXPECT_GT(pool_->replayed_records(), 0u);
  expect_all();
}

TEST_P(PoolGrow, what_is_freed_in_the_new_piece_is_used_again) {
  fill_up();
  ASSERT_TRUE(pool_->grow(first_bytes + (64 << 10)).ok());
  const Offset object = *pool_->reserve(object_bytes);
  EXPECT_GE(object, first_bytes);
  Transaction there;
  ASSERT_TRUE(there.publish(object, 64).ok());
  ASSERT_TRUE(there.set_root("one", object).ok());
  ASSERT_TRUE(pool_->wait(*pool_->commit(there)).ok());
  Transaction gone;
  ASSERT_TRUE(gone.free(object).ok());
  ASSERT_TRUE(gone.set_root("one", 0).ok());
  ASSERT_TRUE(pool_->wait(*pool_->commit(gone)).ok());
  EXPECT_TRUE(pool_->check_in_full().ok());
  ASSERT_TRUE(pool_->close().ok());
  reopen();
  expect_all();
  EXPECT_GT(fill_up(), 0u);
}

TEST_P(PoolGrow, room_that_is_kept_for_a_service_may_come_from_the_new_piece) {
  fill_up();
  EXPECT_EQ(pool_->keep(Account::files, 128 << 10).code(), Code::no_space);
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  EXPECT_TRUE(pool_->keep(Account::files, 128 << 10).ok());
}

TEST_P(PoolGrow, a_refusal_changes_nothing) {
  const std::vector<std::byte> before(region_.bytes().begin(), region_.bytes().end());
  for (const std::uint64_t size : {first_bytes, first_bytes / 2, first_bytes + 4096, 2 * all_bytes,
                                   pool_format::largest_pool_bytes + 4096}) {
    EXPECT_EQ(pool_->grow(size).code(), Code::invalid_argument) << size;
  }
  EXPECT_TRUE(std::ranges::equal(before, region_.bytes()));
  EXPECT_EQ(pool_->size_bytes(), first_bytes);
  ASSERT_TRUE(pool_->close().ok());
  EXPECT_EQ(pool_->grow(all_bytes).code(), Code::closed);
}

TEST_P(PoolGrow, a_pool_of_version_1_grows_once_it_was_opened) {
  put(*pool_->reserve(object_bytes));
  ASSERT_TRUE(pool_->close().ok());
  make_version_one(region_.bytes());
  ASSERT_TRUE(region_.wait(region_.persist(region_.bytes())).ok());
  reopen();
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  put(*pool_->reserve(object_bytes));
  reopen();
  EXPECT_EQ(pool_->found_version(), pool_format::grown_version);
  expect_all();
}

TEST_P(PoolGrow, damage_of_the_new_piece_is_noticed_and_what_is_whole_is_saved) {
  fill_up();
  ASSERT_TRUE(pool_->grow(all_bytes).ok());
  fill_up();
  ASSERT_TRUE(pool_->close().ok());
  const PoolPiece piece = pool_->layout().pieces()[1];
  for (const Offset place : {Offset{12}, pool_format::extension_place(0) + 8, piece.summary,
                             piece.table, piece.table + 2 * sizeof(pool_format::BlockEntry)}) {
    SCOPED_TRACE(place);
    const std::byte was = region_.data()[place];
    region_.data()[place] ^= std::byte{1};
    EXPECT_EQ(pool_->check_in_full().code(), Code::damaged);
    EXPECT_EQ(Pool::open(region_, "p").code(), Code::damaged);
    std::vector<std::byte> image(region_.bytes().begin(), region_.bytes().end());
    PoolFindings findings;
    const auto saved = Pool::open_damaged(region_, "p", findings);
    ASSERT_TRUE(saved.ok()) << saved.status().message();
    EXPECT_FALSE(findings.empty());
    EXPECT_GE((*saved)->usage().object_count + 1, number_);
    std::ranges::copy(image, region_.data());
    region_.data()[place] = was;
  }
  EXPECT_TRUE(pool_->check_in_full().ok());
}

// As a pool in one piece is: its layout is no other for that.
TEST_P(PoolGrow, a_pool_whose_end_is_missing_is_called_truncated_and_not_laid_out_anew) {
  ASSERT_TRUE(pool_->grow(1 << 20).ok());
  ASSERT_TRUE(pool_->grow(all_bytes).ok());
  put(*pool_->reserve(object_bytes));
  ASSERT_TRUE(pool_->close().ok());
  for (const std::uint64_t left :
       {all_bytes - 4096, std::uint64_t{1} << 20, (std::uint64_t{1} << 20) - 4096, first_bytes}) {
    SCOPED_TRACE(left);
    FakeRegion cut(left, GetParam());
    const auto refill = [&] { std::ranges::copy(region_.bytes().first(left), cut.data()); };
    refill();
    PoolFindings findings;
    const Status status = Pool::open_damaged(cut, "p", findings).status();
    EXPECT_EQ(status.code(), Code::damaged);
    EXPECT_NE(status.message().find("p is truncated"), std::string_view::npos) << status.message();
    EXPECT_TRUE(findings.empty());
    refill();
    cut.data()[pool_format::extension_place(1)] ^= std::byte{1};
    const auto saved = Pool::open_damaged(cut, "p", findings);
    ASSERT_TRUE(saved.ok()) << "where the pool ended, nothing says";
    EXPECT_LE((*saved)->size_bytes(), left);
    EXPECT_FALSE(findings.empty());
  }
}

}  // namespace
}  // namespace remora
