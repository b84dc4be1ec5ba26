// The rules at the head of pmem/account_rooms.h.
#include "pmem/account_rooms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "pmem/allocator.h"

namespace remora {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t all_free = 100;

TEST(AccountRooms, all_share_what_is_kept_for_nobody) {
  const AccountRooms rooms;
  EXPECT_TRUE(rooms.may_take(Account::files, all_free, all_free).ok());
  EXPECT_EQ(rooms.room_blocks(Account::store, all_free), all_free);
}

TEST(AccountRooms, others_leave_what_is_kept) {
  AccountRooms rooms;
  EXPECT_TRUE(rooms.keep(Account::store, 30, all_free).ok());
  EXPECT_EQ(rooms.room_blocks(Account::files, all_free), 70u);
  EXPECT_TRUE(rooms.may_take(Account::files, 70, all_free).ok());
  EXPECT_EQ(rooms.may_take(Account::files, 71, all_free).code(), Code::no_space);
  EXPECT_TRUE(rooms.may_take(Account::store, all_free, all_free).ok());
}

TEST(AccountRooms, what_an_account_holds_is_a_part_of_what_is_kept_for_it) {
  AccountRooms rooms;
  EXPECT_TRUE(rooms.keep(Account::store, 30, all_free).ok());
  rooms.took(Account::store, 20);
  EXPECT_EQ(rooms.room_blocks(Account::files, 80), 70u);
  rooms.took(Account::store, 20);
  EXPECT_EQ(rooms.room_blocks(Account::files, 60), 60u);
  rooms.gave(Account::store, 40);
  EXPECT_EQ(rooms.room_blocks(Account::files, all_free), 70u);
}

TEST(AccountRooms, room_that_others_hold_or_have_kept_cannot_be_kept) {
  AccountRooms rooms;
  EXPECT_TRUE(rooms.keep(Account::store, 30, all_free).ok());
  rooms.took(Account::files, 50);
  EXPECT_EQ(rooms.keep(Account::calls, 21, 50).code(), Code::no_space);
  EXPECT_EQ(rooms.of(Account::calls).kept_blocks, 0u);
  EXPECT_TRUE(rooms.keep(Account::calls, 20, 50).ok());
  EXPECT_TRUE(rooms.keep(Account::files, 50, 50).ok());
  EXPECT_EQ(rooms.keep(Account::files, 51, 50).code(), Code::no_space);
}

TEST(AccountRooms, what_is_kept_can_be_less_than_before) {
  AccountRooms rooms;
  EXPECT_TRUE(rooms.keep(Account::store, all_free, all_free).ok());
  EXPECT_EQ(rooms.room_blocks(Account::files, all_free), 0u);
  EXPECT_TRUE(rooms.keep(Account::store, 10, all_free).ok());
  EXPECT_EQ(rooms.room_blocks(Account::files, all_free), 90u);
}

TEST(AccountRooms, a_refusal_says_whose_room_it_is) {
  AccountRooms rooms;
  EXPECT_EQ(rooms.may_take(Account::files, 1, 0).message(),
            "the pool is full; free something, or make a larger pool");
  EXPECT_TRUE(rooms.keep(Account::store, 256, 300).ok());
  EXPECT_TRUE(rooms.keep(Account::calls, 20, 300).ok());
  EXPECT_THAT(std::string(rooms.may_take(Account::files, 256, 300).message()),
              testing::AllOf(HasSubstr("files needs 1 MiB more"), HasSubstr("1 MiB for store"),
                             HasSubstr("80 KiB for calls")));
}

// Whatever the accounts do, each can take what is kept for it.
TEST(AccountRooms, never_promises_a_block_twice) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    AccountRooms rooms;
    std::uint64_t free = all_free;
    for (int step = 0; step < 200; ++step) {
      const auto account = static_cast<Account>(random.below(account_count));
      const std::uint64_t blocks = random.below(40);
      switch (random.below(3)) {
        case 0:
          if (rooms.may_take(account, blocks, free).ok()) {
            rooms.took(account, blocks);
            free -= blocks;
          }
          break;
        case 1: {
          const std::uint64_t back = std::min(blocks, rooms.of(account).held_blocks);
          rooms.gave(account, back);
          free += back;
          break;
        }
        default:
          (void)rooms.keep(account, blocks, free);
      }
      std::uint64_t awaited = 0;
      for (std::size_t i = 0; i < account_count; ++i) {
        const AccountRoom& room = rooms.of(static_cast<Account>(i));
        awaited += room.awaited_blocks();
        EXPECT_TRUE(rooms.may_take(static_cast<Account>(i), room.awaited_blocks(), free).ok());
      }
      ASSERT_LE(awaited, free) << "seed " << seed << " step " << step;
    }
  }
}

// --- In the allocator ---

class AllocatorRooms : public testing::Test {
 protected:
  AllocatorRooms() { EXPECT_TRUE(allocator_.load(pool_).ok()); }

  static constexpr std::uint64_t block_bytes = pool_format::block_bytes;

  const pool_format::Header header_ = pool_format::plan(8 << 20, {});
  std::vector<std::byte> pool_ = std::vector<std::byte>(header_.blocks);
  Allocator allocator_{header_};
};

TEST_F(AllocatorRooms, a_service_leaves_what_is_kept_for_another) {
  const std::uint64_t blocks = allocator_.free_blocks();
  ASSERT_TRUE(allocator_.keep(Account::store, 100 * block_bytes).ok());
  EXPECT_EQ(allocator_.room_bytes(Account::files), (blocks - 100) * block_bytes);
  while (allocator_.reserve(10 * block_bytes, Account::files).ok()) {
  }
  EXPECT_GE(allocator_.free_blocks(), 100u);
  EXPECT_LT(allocator_.free_blocks(), 110u);
  EXPECT_THAT(std::string(allocator_.reserve(10 * block_bytes, Account::files).status().message()),
              HasSubstr("400 KiB for store"));
  EXPECT_TRUE(allocator_.reserve(100 * block_bytes, Account::store).ok());
}

TEST_F(AllocatorRooms, a_small_object_needs_room_only_for_its_chunk) {
  ASSERT_TRUE(allocator_.reserve(64, Account::files).ok());
  ASSERT_TRUE(allocator_.keep(Account::store, allocator_.free_blocks() * block_bytes).ok());
  for (int i = 1; i < 64; ++i) {
    EXPECT_TRUE(allocator_.reserve(64, Account::files).ok());
  }
  EXPECT_EQ(allocator_.reserve(64, Account::files).code(), Code::no_space);
  EXPECT_TRUE(allocator_.reserve(64, Account::store).ok());
}

TEST_F(AllocatorRooms, what_waits_for_its_release_is_held) {
  const Offset object = *allocator_.reserve(10 * block_bytes, Account::store);
  EXPECT_EQ(allocator_.rooms().of(Account::store).held_blocks, 10u);
  WordSet words;
  allocator_.publish(object, words);
  allocator_.retract(object, words);
  EXPECT_EQ(allocator_.rooms().of(Account::store).held_blocks, 10u);
  allocator_.release(object);
  EXPECT_EQ(allocator_.rooms().of(Account::store).held_blocks, 0u);
}

}  // namespace
}  // namespace remora
