#include "pmem/account_rooms.h"

#include <algorithm>
#include <string>

#include "base/size_text.h"

namespace remora {
namespace {

std::string size_of(std::uint64_t blocks) {
  return format_size(blocks * pool_format::block_bytes);
}

}  // namespace

std::uint64_t AccountRooms::awaited_by_others(Account account) const {
  std::uint64_t blocks = 0;
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    blocks += i == static_cast<std::size_t>(account) ? 0 : rooms_[i].awaited_blocks();
  }
  return blocks;
}

std::uint64_t AccountRooms::room_blocks(Account account, std::uint64_t free_blocks) const {
  return free_blocks - std::min(free_blocks, awaited_by_others(account));
}

Status AccountRooms::keep(Account account, std::uint64_t blocks, std::uint64_t free_blocks) {
  const std::uint64_t held = of(account).held_blocks;
  if (blocks > held && blocks - held > room_blocks(account, free_blocks)) {
    return refuse(account, blocks - held, free_blocks);
  }
  at(account).kept_blocks = blocks;
  return Status();
}

Status AccountRooms::may_take(Account account, std::uint64_t blocks,
                              std::uint64_t free_blocks) const {
  return blocks <= room_blocks(account, free_blocks) ? Status()
                                                     : refuse(account, blocks, free_blocks);
}

Status AccountRooms::refuse(Account account, std::uint64_t blocks,
                            std::uint64_t free_blocks) const {
  std::string owners;
  for (std::size_t i = 0; i < rooms_.size(); ++i) {
    const auto other = static_cast<Account>(i);
    if (other != account && rooms_[i].awaited_blocks() != 0) {
      owners += (owners.empty() ? "" : ", ") + size_of(rooms_[i].awaited_blocks()) + " for " +
                std::string(to_string(other));
    }
  }
  const std::string remedy = "; free something, or make a larger pool";
  if (owners.empty()) {
    return Status(Code::no_space, "the pool is full" + remedy);
  }
  return Status(Code::no_space, std::string(to_string(account)) + " needs " + size_of(blocks) +
                                    " more of the pool, of which " + size_of(free_blocks) +
                                    " are free and kept: " + owners + remedy);
}

}  // namespace remora
