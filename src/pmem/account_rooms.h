// AccountRooms: how services share the space of a pool. Each account holds the blocks of its
// chunks: of what lives, what is reserved, and what was freed and not yet released. Beyond that,
// room can be kept for it, which no other account may take:
//
//   R1  Kept for an account are so many blocks, those that it holds among them. What it does not
//       hold of them lies free, and is its own.
//   R2  An account may take free blocks as long as those stay free that are kept for others.
//   R3  Room is kept only where it is: free, and not kept for others, or held by that account.
//
// So an account can always take what is kept for it (in pieces: neighbours are not promised), and
// one for which nothing is kept shares the rest with all others.
//
// What is held follows from the block table, so it is known when a pool was opened; what is kept is
// known in DRAM alone, and each service says it when it starts. No allocation, no lock; asked when
// a chunk is taken, not for each object.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "pmem/pool_format.h"

namespace remora {

struct AccountRoom {
  std::uint64_t held_blocks = 0;
  std::uint64_t kept_blocks = 0;

  // Of what is kept, that which is not held.
  std::uint64_t awaited_blocks() const {
    return kept_blocks > held_blocks ? kept_blocks - held_blocks : 0;
  }
  bool operator==(const AccountRoom&) const = default;
};

class AccountRooms {
 public:
  // The account has taken blocks, or given them back.
  void took(Account account, std::uint64_t blocks) { at(account).held_blocks += blocks; }
  void gave(Account account, std::uint64_t blocks) { at(account).held_blocks -= blocks; }

  // R3: from now on so many are kept for the account, and not what was before. no_space, and
  // nothing changes, where they are not there.
  Status keep(Account account, std::uint64_t blocks, std::uint64_t free_blocks);
  // R2: success, or no_space with a message that says whose room the free blocks are.
  Status may_take(Account account, std::uint64_t blocks, std::uint64_t free_blocks) const;
  // The most that the account may take now.
  std::uint64_t room_blocks(Account account, std::uint64_t free_blocks) const;

  const AccountRoom& of(Account account) const { return rooms_[static_cast<std::size_t>(account)]; }

 private:
  AccountRoom& at(Account account) { return rooms_[static_cast<std::size_t>(account)]; }
  // What is kept for others and not held by them.
  std::uint64_t awaited_by_others(Account account) const;
  Status refuse(Account account, std::uint64_t blocks, std::uint64_t free_blocks) const;

  std::array<AccountRoom, account_count> rooms_{};
};

}  // namespace remora
