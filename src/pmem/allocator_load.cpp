// Rebuilding the allocator from the medium, believing nothing that does not fit together.
#include <algorithm>
#include <bit>
#include <string>

#include "pmem/allocator.h"
#include "pmem/pool_checks.h"

namespace remora {

using pool_format::block_bytes;
using pool_format::BlockEntry;
using pool_format::blocks_per_group;
using pool_format::ChunkHead;
using pool_format::ChunkKind;

namespace {

Status damaged(std::uint64_t block, const std::string& what) {
  return Status(Code::damaged, "the block table is damaged at block " + std::to_string(block) +
                                   ": " + what + pool_format::remedy);
}

Status check_chunk(std::uint64_t block, const ChunkHead& head, std::uint64_t detail,
                   std::uint64_t end_block) {
  if (head.kind != ChunkKind::slots && head.kind != ChunkKind::run) {
    return damaged(block, "unknown kind of chunk");
  }
  if (static_cast<std::size_t>(head.account) >= account_count) {
    return damaged(block, "unknown account");
  }
  if (head.blocks == 0 || head.blocks > end_block - block) {
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

// The chunk that an entry describes, if its checksum is right; version 1 had none.
Result<ChunkHead> read_head(std::uint64_t block, const BlockEntry& entry,
                            std::uint32_t found_version, Account account) {
  if (found_version == pool_format::oldest_version &&
      pool_format::version_one::is_head(entry.head)) {
    const std::optional<ChunkHead> head = pool_format::version_one::from(entry.head, account);
    return head ? Result<ChunkHead>(*head) : damaged(block, "unknown kind of chunk");
  }
  const ChunkHead head = ChunkHead::from(entry.head);
  if (pool_format::head_word(head, block, entry.detail) != entry.head) {
    return damaged(block, "an entry whose checksum is wrong");
  }
  return head;
}

}  // namespace

Status Allocator::load_entry(ConstBytes pool, std::uint64_t block, Loading& loading) {
  BlockEntry found;
  std::memcpy(&found, pool.data() + entry_of(block), sizeof found);
  if (found.head == 0) {
    return found.detail == 0 ? Status() : damaged(block, "objects in a chunk that does not exist");
  }
  REMORA_TRY_RESULT(head, read_head(block, found, loading.found_version, loading.account));
  REMORA_TRY(check_chunk(block, *head, found.detail, layout_.piece_of(block).end_block()));
  if (block < loading.next_free) {
    return damaged(block, "two chunks that overlap");
  }
  if (block > loading.next_free) {
    extents_.give(loading.next_free, block - loading.next_free);
  }
  add_loaded(block, *head, found.detail);
  loading.next_free = block + head->blocks;
  return Status();
}

void Allocator::add_loaded(std::uint64_t block, const ChunkHead& head, std::uint64_t detail) {
  Chunk chunk;
  chunk.head = head;
  chunk.run_bytes = head.kind == ChunkKind::run ? detail : 0;
  chunk.held = head.kind == ChunkKind::run ? 1 : detail;
  const auto added = chunks_.emplace_hint(chunks_.end(), block, chunk);
  change_live(added, chunk.held, true);
  rooms_.took(head.account, head.blocks);
  ++heads_in_group_[layout_.group_of(block)];
  list(added);
}

Status Allocator::check_silent_groups(ConstBytes pool) const {
  // Only version 1 asks, which was never grown.
  for (std::uint64_t block = 0; block < layout_.header().block_count; ++block) {
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

void Allocator::salvage(ConstBytes pool, std::uint32_t found_version, Account account,
                        std::vector<PoolFinding>& findings) {
  Loading loading{found_version, account};
  for (const PoolPiece& piece : layout_.pieces()) {
    loading.next_free = std::max(loading.next_free, piece.first_block);
    for (std::uint64_t block = piece.first_block; block < piece.end_block(); ++block) {
      if (const Status status = load_entry(pool, block, loading); !status.ok()) {
        findings.push_back({entry_of(block), std::string(status.message())});
      }
    }
  }
  for (std::uint64_t word = 0; word < summary_.size(); ++word) {
    for (std::uint64_t bit = 0; bit < 64; ++bit) {
      const bool has_chunks = heads_in_group_.contains(word * 64 + bit);
      summary_[word] |= std::uint64_t{has_chunks} << bit;
    }
    const Offset place = layout_.summary_place(word);
    if (remora::load<std::uint64_t>(pool.data() + place) != summary_[word]) {
      findings.push_back({place, "the summary and the block table contradict each other"});
    }
  }
}

void Allocator::for_each_word(
    const std::function<bool(Offset place, std::uint64_t value)>& visit) const {
  for (std::uint64_t word = 0; word < summary_.size(); ++word) {
    if (!visit(layout_.summary_place(word), summary_[word])) {
      return;
    }
  }
  auto chunk = chunks_.cbegin();
  for (const PoolPiece& piece : layout_.pieces()) {
    for (std::uint64_t block = piece.first_block; block < piece.end_block(); ++block) {
      BlockEntry expected{};
      if (chunk != chunks_.cend() && chunk->first == block) {
        expected = entry(chunk++);
      }
      const Offset place = piece.table + (block - piece.first_block) * sizeof(BlockEntry);
      if (!visit(place, expected.head) ||
          !visit(place + offsetof(BlockEntry, detail), expected.detail)) {
        return;
      }
    }
  }
}

Status Allocator::load(ConstBytes pool, std::uint32_t found_version, Account account) {
  Loading loading{found_version, account};
  for (const PoolPiece& piece : layout_.pieces()) {
    loading.next_free = piece.first_block;
    REMORA_TRY(load_piece(pool, piece, loading));
    if (loading.next_free < piece.end_block()) {
      extents_.give(loading.next_free, piece.end_block() - loading.next_free);
    }
  }
  return Status();
}

Status Allocator::load_piece(ConstBytes pool, const PoolPiece& piece, Loading& loading) {
  const std::uint64_t groups = round_up(piece.block_count, blocks_per_group) / blocks_per_group;
  for (std::uint64_t word = 0; word < piece.word_count; ++word) {
    const auto found = remora::load<std::uint64_t>(pool.data() + piece.summary + word * word_bytes);
    summary_[piece.first_word + word] = found;
    for (std::uint64_t bits = found; bits != 0; bits &= bits - 1) {
      const std::uint64_t group = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
      if (group >= groups) {
        return Status(Code::damaged,
                      "the summary names blocks beyond the pool" + pool_format::remedy);
      }
      REMORA_TRY(load_group(pool, piece, group, loading));
    }
  }
  return Status();
}

Status Allocator::load_group(ConstBytes pool, const PoolPiece& piece, std::uint64_t group,
                             Loading& loading) {
  const std::uint64_t first = piece.first_block + group * blocks_per_group;
  const std::uint64_t end = std::min(first + blocks_per_group, piece.end_block());
  for (std::uint64_t block = first; block < end; ++block) {
    REMORA_TRY(load_entry(pool, block, loading));
  }
  return heads_in_group_.contains(layout_.group_of(first))
             ? Status()
             : damaged(first, "the summary names a group of blocks that has no chunk");
}

}  // namespace remora
