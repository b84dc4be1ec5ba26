// Runs of whole blocks: at a place, as much as there is, one as two.
#include <algorithm>

#include "base/check.h"
#include "pmem/allocator.h"

namespace remora {

using pool_format::block_bytes;
using pool_format::ChunkKind;

Offset Allocator::add_run(std::uint64_t block, std::uint64_t blocks, std::uint64_t size_bytes,
                          Account account) {
  Chunk fresh;
  fresh.head = {ChunkKind::run, 0, static_cast<std::uint16_t>(blocks), account};
  fresh.held = 1;
  fresh.run_bytes = size_bytes;
  chunks_.emplace(block, fresh);
  return place_of(block);
}

Result<Offset> Allocator::reserve_at(Offset place, std::uint64_t size_bytes, Account account) {
  if (size_bytes == 0 || size_bytes > largest_object_bytes) {
    return Status(Code::invalid_argument, "a run has 1 byte to 64 MiB");
  }
  const std::uint64_t blocks = round_up(size_bytes, block_bytes) / block_bytes;
  REMORA_TRY(rooms_.may_take(account, blocks, extents_.free_blocks()));
  const bool inside = place >= layout_.header().blocks && place < layout_.size_bytes() &&
                      place_of(layout_.block_at(place)) == place;
  if (!inside || !extents_.take_at(layout_.block_at(place), blocks)) {
    return Status(Code::no_space, "the space at that place is in use; take another place");
  }
  rooms_.took(account, blocks);
  return add_run(layout_.block_at(place), blocks, size_bytes, account);
}

Result<ReservedRun> Allocator::reserve_most(std::uint64_t size_bytes, Account account) {
  if (size_bytes == 0) {
    return Status(Code::invalid_argument, "a run has 1 byte to 64 MiB");
  }
  const std::uint64_t wanted = std::min(size_bytes, largest_object_bytes);
  const std::uint64_t room = rooms_.room_blocks(account, extents_.free_blocks());
  const std::uint64_t blocks = std::min(round_up(wanted, block_bytes) / block_bytes, room);
  const std::optional<BlockRun> run = extents_.take_most(blocks);
  if (!run) {
    REMORA_TRY(rooms_.may_take(account, 1, extents_.free_blocks()));
    return Status(Code::no_space, "the pool is full; free something, or make a larger pool");
  }
  rooms_.took(account, run->count);
  const std::uint64_t bytes = std::min(wanted, run->count * block_bytes);
  return ReservedRun{add_run(run->first, run->count, bytes, account), bytes};
}

bool Allocator::is_run(Offset offset) const {
  const Slot slot = find(offset);
  return slot.bit != 0 && slot.chunk->second.head.kind == ChunkKind::run;
}

void Allocator::split(Offset run, std::uint64_t first_bytes, WordSet& words) {
  const Slot slot = find(run);
  REMORA_CHECK(is_run(run) && slot.chunk->second.waiting == 0, "split something that is no run");
  Chunk& first = slot.chunk->second;
  REMORA_CHECK(first_bytes % block_bytes == 0 && first_bytes != 0 && first_bytes < first.run_bytes,
               "a run is split between two of its blocks");
  const auto blocks = static_cast<std::uint16_t>(first_bytes / block_bytes);
  const std::uint64_t block = slot.chunk->first + blocks;
  const bool lives = first.live != 0;
  total_ -= lives ? share_of(entry_of(slot.chunk->first), entry(slot.chunk)) : 0;
  Chunk second = first;
  second.head.blocks = static_cast<std::uint16_t>(first.head.blocks - blocks);
  second.run_bytes = first.run_bytes - first_bytes;
  first.head.blocks = blocks;
  first.run_bytes = first_bytes;
  const auto added = chunks_.emplace(block, second).first;
  if (!lives) {
    return;
  }
  total_ += share_of(entry_of(slot.chunk->first), entry(slot.chunk));
  total_ += share_of(entry_of(block), entry(added));
  ++live_objects_;
  ++accounts_[static_cast<std::size_t>(second.head.account)].object_count;
  put_entry(slot.chunk, words);
  put_entry(added, words);
  count_head(block, true, words);
}

}  // namespace remora
