// For tests: makes a store of version 2 from one of this version, in an order in which a cut leaves
// what a program of that version, or an upgrade that was cut, may have left.
#pragma once

#include <cstring>

#include "kv/log/log_walk.h"
#include "kv/log/store_format.h"
#include "pmem/pool.h"

namespace remora::kv {

// The superblock; persistent when this returns. The pool is wide enough for one segment of the
// table to a transaction.
inline Status begin_downgrade(Pool& pool) {
  using store_format::Head;
  using store_format::Marks;
  using store_format::Slot;
  const Offset superblock = *pool.root(store_format::root_name);
  const std::uint64_t word = pool.load(superblock + offsetof(Head, version));
  Transaction transaction;
  REMORA_TRY(transaction.set(superblock + offsetof(Head, version), word >> 32 << 32 | 2));
  REMORA_TRY(transaction.set(superblock + store_format::marks_begin + offsetof(Marks, total), 0));
  REMORA_TRY(transaction.set(superblock + store_format::marks_begin + offsetof(Marks, settled), 0));
  for (std::uint64_t slot = 0; slot < word >> 32; ++slot) {
    const Offset end = store_format::slot_place(superblock, slot) + offsetof(Slot, end);
    if (pool.load(end) != 0) {
      REMORA_TRY(transaction.set(end, 0));
    }
  }
  const Result<Ticket> ticket = pool.commit(transaction);
  return ticket.ok() ? pool.wait(*ticket) : ticket.status();
}

// The state words; persistent when this returns.
inline Status rewrite_states(Pool& pool) {
  using store_format::Slot;
  const Offset superblock = *pool.root(store_format::root_name);
  std::byte* const base = pool.region().data();
  const std::uint64_t slots = pool.load(superblock + offsetof(store_format::Head, version)) >> 32;
  for (std::uint64_t i = 0; i < slots; ++i) {
    const Offset slot = store_format::slot_place(superblock, i);
    Segment segment{.number = pool.load(slot + offsetof(Slot, number)),
                    .offset = pool.load(slot + offsetof(Slot, offset))};
    if (segment.number == 0) {
      continue;
    }
    segment.capacity_bytes = pool.object(segment.offset).size();
    walk(base, segment, segment.capacity_bytes, [&](const Object& object) {
      const std::uint64_t flags = (object.durable() ? object_format::durable_flag : 0) |
                                  (object.invalid() ? object_format::invalid_flag : 0);
      const std::uint64_t word = object.segment() << 2 | flags;
      std::byte* const at = base + object.offset() + offsetof(object_format::Header, state);
      std::memcpy(at, &word, sizeof word);
      pool.region().flush(ConstBytes(at, sizeof word));
    });
  }
  return pool.wait(pool.region().drain());
}

}  // namespace remora::kv
