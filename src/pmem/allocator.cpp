#include "pmem/allocator.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/check.h"
#include "pmem/pool_checks.h"

namespace remora {

using pool_format::block_bytes;
using pool_format::BlockEntry;
using pool_format::ChunkHead;
using pool_format::ChunkKind;

void WordSet::put(Offset place, std::uint64_t value) {
  for (pool_format::Write& write : std::span(writes_.data(), count_)) {
    if (write.place == place) {
      write.value = value;
      return;
    }
  }
  REMORA_CHECK(count_ < writes_.size(), "a transaction outgrew its log record");
  writes_[count_++] = {place, value};
}

std::uint64_t Allocator::Chunk::all_bits() const {
  return head.kind == ChunkKind::run ? 1 : size_classes[head.size_class].all_bits();
}

std::uint64_t Allocator::Chunk::object_bytes() const {
  return head.kind == ChunkKind::run ? head.blocks * block_bytes
                                     : size_classes[head.size_class].object_bytes;
}

std::uint64_t Allocator::Chunk::detail() const {
  return head.kind == ChunkKind::run ? (live == 0 ? 0 : run_bytes) : live;
}

Allocator::Allocator(const PoolLayout& layout)
    : layout_(layout), summary_(layout.summary_words()) {}

void Allocator::grow(const PoolLayout& grown) {
  layout_ = grown;
  summary_.resize(grown.summary_words());
  const PoolPiece& piece = grown.pieces().back();
  extents_.give(piece.first_block, piece.block_count);
}

Offset Allocator::place_of(std::uint64_t block) const {
  return layout_.place_of(block);
}

Offset Allocator::entry_of(std::uint64_t block) const {
  return layout_.entry_of(block);
}

Result<Offset> Allocator::reserve(std::uint64_t size_bytes, Account account) {
  if (size_bytes == 0 || size_bytes > largest_object_bytes) {
    return Status(Code::invalid_argument, "an object of " + std::to_string(size_bytes) +
                                              " bytes cannot be; the limits are 1 and " +
                                              std::to_string(largest_object_bytes));
  }
  const std::size_t size_class = size_class_for(size_bytes);
  return size_class < size_classes.size() ? reserve_slot(size_class, account)
                                          : reserve_run(size_bytes, account);
}

Result<Offset> Allocator::reserve_slot(std::size_t size_class, Account account) {
  std::vector<std::uint64_t>& candidates =
      with_room_[static_cast<std::size_t>(account)][size_class];
  while (!candidates.empty()) {
    const auto chunk = chunks_.find(candidates.back());
    if (chunk != chunks_.end() && chunk->second.listed &&
        chunk->second.head.kind == ChunkKind::slots &&
        chunk->second.head.size_class == size_class && chunk->second.head.account == account) {
      const std::uint64_t room = chunk->second.all_bits() & ~chunk->second.held;
      if (room != 0) {
        const auto index = static_cast<std::uint64_t>(std::countr_zero(room));
        chunk->second.held |= std::uint64_t{1} << index;
        return place_of(chunk->first) + index * chunk->second.object_bytes();
      }
      chunk->second.listed = false;
    }
    candidates.pop_back();
  }
  const auto blocks = static_cast<std::uint16_t>(size_classes[size_class].blocks);
  REMORA_TRY_RESULT(block, take_blocks(account, blocks));
  Chunk fresh;
  fresh.head = {ChunkKind::slots, static_cast<std::uint8_t>(size_class), blocks, account};
  fresh.held = 1;
  list(chunks_.emplace(*block, fresh).first);
  return place_of(*block);
}

Result<std::uint64_t> Allocator::take_blocks(Account account, std::uint16_t blocks) {
  REMORA_TRY(rooms_.may_take(account, blocks, extents_.free_blocks()));
  const std::optional<std::uint64_t> block = extents_.take(blocks);
  if (!block) {
    return Status(Code::no_space, "the pool has no " + std::to_string(blocks) +
                                      " blocks in one piece left; free something, or make a larger "
                                      "pool");
  }
  rooms_.took(account, blocks);
  return *block;
}

Status Allocator::keep(Account account, std::uint64_t size_bytes) {
  return rooms_.keep(account, round_up(size_bytes, block_bytes) / block_bytes,
                     extents_.free_blocks());
}

std::uint64_t Allocator::room_bytes(Account account) const {
  return rooms_.room_blocks(account, extents_.free_blocks()) * block_bytes;
}

std::uint64_t Allocator::whole_bytes(Account account, std::uint64_t piece_bytes) const {
  return std::min(round_down(room_bytes(account), piece_bytes),
                  extents_.runs_of(piece_bytes / block_bytes) * piece_bytes);
}

std::optional<std::uint64_t> Allocator::whole_bytes_after(std::uint64_t size_bytes, Account account,
                                                          std::uint64_t piece_bytes) const {
  const std::uint64_t room = room_bytes(account);
  const std::optional<std::uint64_t> runs =
      extents_.runs_after(size_bytes / block_bytes, piece_bytes / block_bytes);
  if (!runs || room < size_bytes) {
    return std::nullopt;
  }
  return std::min(round_down(room - size_bytes, piece_bytes), *runs * piece_bytes);
}

Account Allocator::account_of(Offset offset) const {
  const Slot slot = find(offset);
  REMORA_CHECK(slot.bit != 0, "asked whose something is that is no object");
  return slot.chunk->second.head.account;
}

Result<Offset> Allocator::reserve_run(std::uint64_t size_bytes, Account account) {
  const auto blocks = static_cast<std::uint16_t>(round_up(size_bytes, block_bytes) / block_bytes);
  REMORA_TRY_RESULT(block, take_blocks(account, blocks));
  return add_run(*block, blocks, size_bytes, account);
}

void Allocator::list(Chunks::iterator chunk) {
  if (!chunk->second.listed && chunk->second.head.kind == ChunkKind::slots) {
    chunk->second.listed = true;
    const ChunkHead& head = chunk->second.head;
    with_room_[static_cast<std::size_t>(head.account)][head.size_class].push_back(chunk->first);
  }
}

Allocator::Chunks::iterator Allocator::chunk_at(Offset offset) const {
  if (offset < layout_.header().blocks || offset >= layout_.size_bytes()) {
    return chunks_.end();
  }
  const std::uint64_t block = layout_.block_at(offset);
  auto chunk = chunks_.upper_bound(block);
  if (chunk == chunks_.begin()) {
    return chunks_.end();
  }
  --chunk;
  return block < chunk->first + chunk->second.head.blocks ? chunk : chunks_.end();
}

Allocator::Slot Allocator::find(Offset offset) const {
  const Chunks::iterator chunk = chunk_at(offset);
  if (chunk == chunks_.end()) {
    return {chunk, 0};
  }
  const std::uint64_t inside = offset - place_of(chunk->first);
  const std::uint64_t object_bytes = chunk->second.object_bytes();
  return {chunk, inside % object_bytes == 0 ? std::uint64_t{1} << (inside / object_bytes) : 0};
}

bool Allocator::is_reserved(Offset offset) const {
  const Slot slot = find(offset);
  if (slot.bit == 0) {
    return false;
  }
  const Chunk& chunk = slot.chunk->second;
  return (chunk.held & ~chunk.live & ~chunk.waiting & slot.bit) != 0;
}

Offset Allocator::object_at(Offset offset) const {
  const Chunks::iterator chunk = chunk_at(offset);
  if (chunk == chunks_.end()) {
    return 0;
  }
  const std::uint64_t inside = offset - place_of(chunk->first);
  return offset - inside % chunk->second.object_bytes();
}

bool Allocator::is_live(Offset offset) const {
  const Slot slot = find(offset);
  return slot.bit != 0 && (slot.chunk->second.live & slot.bit) != 0;
}

std::uint64_t Allocator::capacity_bytes(Offset offset) const {
  const Slot slot = find(offset);
  REMORA_CHECK(slot.bit != 0, "asked for the size of something that is no object");
  return slot.chunk->second.object_bytes();
}

// Keeps the summary bit of a block's group: set while the group has the first block of any chunk
// with live objects.
void Allocator::count_head(std::uint64_t block, bool added, WordSet& words) {
  const std::uint64_t group = layout_.group_of(block);
  std::uint32_t& heads = heads_in_group_[group];
  const bool had_some = heads != 0;
  heads = added ? heads + 1 : heads - 1;
  if (had_some == (heads != 0)) {
    return;
  }
  if (!added) {
    heads_in_group_.erase(group);
  }
  std::uint64_t& word = summary_[group / 64];
  word ^= std::uint64_t{1} << (group % 64);
  words.put(layout_.summary_place(group / 64), word);
}

BlockEntry Allocator::entry(Chunks::const_iterator chunk) const {
  if (chunk->second.live == 0) {
    return BlockEntry{};
  }
  const std::uint64_t detail = chunk->second.detail();
  return {pool_format::head_word(chunk->second.head, chunk->first, detail), detail};
}

void Allocator::change_live(Chunks::iterator chunk, std::uint64_t bits, bool live) {
  const Offset place = entry_of(chunk->first);
  total_ -= share_of(place, entry(chunk));
  std::uint64_t& lives = chunk->second.live;
  lives = live ? lives | bits : lives & ~bits;
  total_ += share_of(place, entry(chunk));
  const auto objects = static_cast<std::uint64_t>(std::popcount(bits));
  const std::uint64_t bytes = objects * chunk->second.object_bytes();
  AccountUsage& account = accounts_[static_cast<std::size_t>(chunk->second.head.account)];
  live_objects_ += live ? objects : -objects;
  account.object_count += live ? objects : -objects;
  live_bytes_ += live ? bytes : -bytes;
  account.object_bytes += live ? bytes : -bytes;
}

void Allocator::put_entry(Chunks::const_iterator chunk, WordSet& words) const {
  const BlockEntry now = entry(chunk);
  words.put(entry_of(chunk->first) + offsetof(BlockEntry, head), now.head);
  words.put(entry_of(chunk->first) + offsetof(BlockEntry, detail), now.detail);
}

void Allocator::publish(Offset offset, WordSet& words) {
  const Slot slot = find(offset);
  REMORA_CHECK(slot.bit != 0 && is_reserved(offset), "published an object that is not reserved");
  const bool first = slot.chunk->second.live == 0;
  change_live(slot.chunk, slot.bit, true);
  put_entry(slot.chunk, words);
  if (first) {
    count_head(slot.chunk->first, true, words);
  }
}

void Allocator::retract(Offset offset, WordSet& words) {
  const Slot slot = find(offset);
  REMORA_CHECK(slot.bit != 0 && is_live(offset), "retracted an object that is not live");
  change_live(slot.chunk, slot.bit, false);
  slot.chunk->second.waiting |= slot.bit;
  put_entry(slot.chunk, words);
  if (slot.chunk->second.live == 0) {
    count_head(slot.chunk->first, false, words);
  }
}

void Allocator::release(Offset offset) {
  const Slot slot = find(offset);
  REMORA_CHECK(slot.bit != 0, "released something that is no object");
  Chunk& chunk = slot.chunk->second;
  REMORA_CHECK((chunk.held & ~chunk.live & slot.bit) != 0, "released an object that is not held");
  chunk.held &= ~slot.bit;
  chunk.waiting &= ~slot.bit;
  if (chunk.held == 0) {
    extents_.give(slot.chunk->first, chunk.head.blocks);
    rooms_.gave(chunk.head.account, chunk.head.blocks);
    chunks_.erase(slot.chunk);
  } else {
    list(slot.chunk);
  }
}

void Allocator::for_each_live(
    const std::function<void(Offset offset, std::uint64_t capacity_bytes)>& visit) const {
  for (const auto& [block, chunk] : chunks_) {
    for (std::uint64_t bits = chunk.live; bits != 0; bits &= bits - 1) {
      const auto index = static_cast<std::uint64_t>(std::countr_zero(bits));
      visit(place_of(block) + index * chunk.object_bytes(), chunk.object_bytes());
    }
  }
}

void Allocator::for_each_entry(
    const std::function<void(Offset place, const BlockEntry& entry)>& visit) const {
  for (auto chunk = chunks_.cbegin(); chunk != chunks_.cend(); ++chunk) {
    if (chunk->second.live != 0) {
      visit(entry_of(chunk->first), entry(chunk));
    }
  }
}

}  // namespace remora
