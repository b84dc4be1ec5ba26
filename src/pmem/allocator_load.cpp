// Rebuilding the allocator from the medium, believing nothing that does not fit together.
#include <algorithm>
#include <bit>
#include <string>

#include "pmem/allocator.h"

namespace remora {

using pool_format::block_bytes;
using pool_format::BlockEntry;
using pool_format::blocks_per_group;
using pool_format::ChunkHead;
using pool_format::ChunkKind;

namespace {

Status damaged(std::uint64_t block, const std::string& what) {
  return Status(Code::damaged, "the block table is damaged at block " + std::to_string(block) +
                                   ": " + what + "; restore the pool from a backup");
}

Status check_entry(std::uint64_t block, std::uint64_t head_word, std::uint64_t detail,
                   std::uint64_t block_count) {
  if (!ChunkHead::plausible(head_word) || ChunkHead::from(head_word).kind == ChunkKind::none) {
    return damaged(block, "unknown kind of chunk");
  }
  const ChunkHead head = ChunkHead::from(head_word);
  if (head.blocks == 0 || head.blocks > block_count - block) {
    return damaged(block, "a chunk that leaves the pool");
  }
  if (head.kind == ChunkKind::run) {
    const bool fits = detail != 0 && detail <= largest_object_bytes && head.size_class == 0 &&
                      round_up(detail, block_bytes) == head.blocks * block_bytes;
    return fits ? Status() : damaged(block, "an object whose size does not fit its blocks");
  }
  if (head.size_class >= size_classes.size() ||
      head.blocks != size_classes[head.size_class].blocks) {
    return damaged(block, "unknown size class");
  }
  if (detail == 0 || (detail & ~size_classes[head.size_class].all_bits()) != 0) {
    return damaged(block, "objects that its size class does not have");
  }
  return Status();
}

}  // namespace

Status Allocator::load_entry(ConstBytes pool, std::uint64_t block, std::uint64_t& next_free) {
  const auto head_word = remora::load<std::uint64_t>(pool.data() + entry_of(block));
  const auto detail =
      remora::load<std::uint64_t>(pool.data() + entry_of(block) + offsetof(BlockEntry, detail));
  if (head_word == 0) {
    return detail == 0 ? Status() : damaged(block, "objects in a chunk that does not exist");
  }
  REMORA_TRY(check_entry(block, head_word, detail, header_.block_count));
  if (block < next_free) {
    return damaged(block, "two chunks that overlap");
  }
  if (block > next_free) {
    extents_.give(next_free, block - next_free);
  }
  Chunk chunk;
  chunk.head = ChunkHead::from(head_word);
  chunk.run_bytes = chunk.head.kind == ChunkKind::run ? detail : 0;
  chunk.live = chunk.head.kind == ChunkKind::run ? 1 : detail;
  chunk.held = chunk.live;
  const auto objects = static_cast<std::uint64_t>(std::popcount(chunk.live));
  live_objects_ += objects;
  live_bytes_ += objects * chunk.object_bytes();
  ++heads_in_group_[block / blocks_per_group];
  next_free = block + chunk.head.blocks;
  list(chunks_.emplace_hint(chunks_.end(), block, chunk));
  return Status();
}

Status Allocator::check_silent_groups(ConstBytes pool) const {
  for (std::uint64_t block = 0; block < header_.block_count; ++block) {
    const std::uint64_t group = block / blocks_per_group;
    if ((summary_[group / 64] >> (group % 64) & 1) != 0) {
      continue;
    }
    const auto entry = pool.subspan(entry_of(block), sizeof(BlockEntry));
    if (!std::ranges::all_of(entry, [](std::byte byte) { return byte == std::byte{0}; })) {
      return damaged(block, "a chunk in a group that the summary calls empty");
    }
  }
  return Status();
}

Status Allocator::load(ConstBytes pool) {
  const std::uint64_t groups = round_up(header_.block_count, blocks_per_group) / blocks_per_group;
  std::uint64_t next_free = 0;
  for (std::uint64_t word = 0; word < summary_.size(); ++word) {
    summary_[word] = remora::load<std::uint64_t>(pool.data() + header_.summary + word * word_bytes);
    for (std::uint64_t bits = summary_[word]; bits != 0; bits &= bits - 1) {
      const std::uint64_t group = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
      if (group >= groups) {
        return Status(Code::damaged,
                      "the summary names blocks beyond the pool; restore the pool "
                      "from a backup");
      }
      const std::uint64_t first = group * blocks_per_group;
      const std::uint64_t end = std::min(first + blocks_per_group, header_.block_count);
      for (std::uint64_t block = first; block < end; ++block) {
        REMORA_TRY(load_entry(pool, block, next_free));
      }
      if (!heads_in_group_.contains(group)) {
        return damaged(first, "the summary names a group of blocks that has no chunk");
      }
    }
  }
  if (next_free < header_.block_count) {
    extents_.give(next_free, header_.block_count - next_free);
  }
  return Status();
}

}  // namespace remora
