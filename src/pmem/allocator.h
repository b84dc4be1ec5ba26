// Allocator: which space of a pool is whose. It lives in DRAM and is rebuilt from the block table
// when the pool is opened; it never writes to the pool itself. Publishing and retracting an object
// yield the words that must change in the table, for the caller to log.
//
// An object goes through these states:
//   reserve   held, and unknown to the medium: a power cut frees it
//   publish   live: on the medium
//   retract   held, no longer live: the medium may still say otherwise until the log has caught up
//   release   free again (cancel does the same for what was only reserved)
//
// One owner thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "pmem/account_rooms.h"
#include "pmem/extents.h"
#include "pmem/pool_checks.h"
#include "pmem/pool_format.h"
#include "pmem/pool_layout.h"
#include "pmem/size_classes.h"

namespace remora {

// Words to be written together; a later value for the same place replaces the earlier.
class WordSet {
 public:
  void put(Offset place, std::uint64_t value);
  std::span<const pool_format::Write> writes() const { return {writes_.data(), count_}; }
  std::size_t size() const { return count_; }

 private:
  std::array<pool_format::Write, pool_format::record_entries> writes_;
  std::size_t count_ = 0;
};

// What the live objects of an account are, and what they occupy.
struct AccountUsage {
  std::uint64_t object_count = 0;
  std::uint64_t object_bytes = 0;

  bool operator==(const AccountUsage&) const = default;
};
using AccountsUsage = std::array<AccountUsage, account_count>;  // by account

// The most words that publishing or retracting one object changes: head, detail, summary.
inline constexpr std::size_t words_per_object = 3;

struct ReservedRun {
  Offset offset;
  std::uint64_t size_bytes;
};

class Allocator {
 public:
  explicit Allocator(const PoolLayout& layout);

  // The pool has grown: the blocks of the newest piece are free.
  void grow(const PoolLayout& grown);

  // Rebuilds the state from the summary and the table in `pool`. Fails with `damaged` and the place
  // when what it reads does not fit together; of groups that the summary does not name it reads
  // nothing. Costs time in proportion to what is live, and a look at every word of the summary.
  // In a pool that was found at version 1, entries of that version are taken too; their chunks
  // belong to `account`.
  Status load(ConstBytes pool, std::uint32_t found_version = pool_format::version,
              Account account = Account::none);

  // Instead of load(), for who saves what is whole: takes every chunk whose entry is right,
  // whatever the summary says, and lists what is wrong.
  void salvage(ConstBytes pool, std::uint32_t found_version, Account account,
               std::vector<PoolFinding>& findings);

  // Looks at the whole table, also where the summary says that nothing is: damaged if something is
  // there. Costs time in proportion to the size of the pool.
  Status check_silent_groups(ConstBytes pool) const;

  // What each word of the summary and of the table must be, in the order of their places, until a
  // visit returns false. Costs time in proportion to the size of the pool.
  void for_each_word(const std::function<bool(Offset place, std::uint64_t value)>& visit) const;
  // The same for the entries of chunks with live objects alone, in proportion to what is live.
  void for_each_entry(
      const std::function<void(Offset place, const pool_format::BlockEntry& entry)>& visit) const;

  // Space for an object, aligned to a cache line. no_space when there is none, or when what is free
  // is kept for other accounts (pmem/account_rooms.h); the caller may then release what waits and
  // try again. Objects of two accounts never share a chunk.
  Result<Offset> reserve(std::uint64_t size_bytes, Account account = Account::none);

  // Runs of whole blocks, for who lays objects side by side (allocator_runs.cpp). At this place, or
  // no_space when it is not free; in the largest piece there is, when none has that size.
  Result<Offset> reserve_at(Offset place, std::uint64_t size_bytes, Account account);
  Result<ReservedRun> reserve_most(std::uint64_t size_bytes, Account account);
  // Makes two runs of one: the first keeps so many bytes, a multiple of blocks. Of a run that lives
  // both do, and the words say so. Requires that it is reserved or lives, and has more.
  void split(Offset run, std::uint64_t first_bytes, WordSet& words);
  // Whether it is a run of whole blocks, reserved or live, and no object among others in a chunk.
  bool is_run(Offset offset) const;

  // So much is kept for the account from now on, in whole blocks, what it holds among them.
  Status keep(Account account, std::uint64_t size_bytes);
  // What of the free blocks the account may take.
  std::uint64_t room_bytes(Account account) const;
  // What of them lies in pieces of that size, whole ones; and what would after reserve(size_bytes),
  // or nothing where that finds no room. Sizes in whole blocks.
  std::uint64_t whole_bytes(Account account, std::uint64_t piece_bytes) const;
  std::optional<std::uint64_t> whole_bytes_after(std::uint64_t size_bytes, Account account,
                                                 std::uint64_t piece_bytes) const;
  const AccountRooms& rooms() const { return rooms_; }
  // Whose the object is. Requires that it is reserved or live.
  Account account_of(Offset offset) const;

  bool is_reserved(Offset offset) const;
  bool is_live(Offset offset) const;
  // The object that the byte at `offset` belongs to, or 0 when that is none. It need not be live.
  Offset object_at(Offset offset) const;

  // Requires is_reserved.
  void publish(Offset offset, WordSet& words);
  // Requires is_live.
  void retract(Offset offset, WordSet& words);
  // Requires that it is reserved or retracted: nobody needs the space any more.
  void release(Offset offset);

  // The bytes that an object may use: its size rounded up to its class or to whole blocks.
  std::uint64_t capacity_bytes(Offset offset) const;

  void for_each_live(
      const std::function<void(Offset offset, std::uint64_t capacity_bytes)>& visit) const;

  std::uint64_t free_blocks() const { return extents_.free_blocks(); }
  std::uint64_t largest_free_run() const { return extents_.largest(); }
  // Objects that are live, and the bytes they occupy.
  std::uint64_t live_objects() const { return live_objects_; }
  std::uint64_t live_bytes() const { return live_bytes_; }
  const AccountsUsage& accounts() const { return accounts_; }
  // What the entries of all chunks with live objects add to the pool's total.
  std::uint64_t total() const { return total_; }

 private:
  struct Chunk {
    pool_format::ChunkHead head;
    std::uint64_t live = 0;     // a bit for each object; bit 0 for a run
    std::uint64_t waiting = 0;  // retracted
    std::uint64_t held = 0;     // live, reserved or retracted
    std::uint64_t run_bytes = 0;
    bool listed = false;  // in its class's list of chunks with room

    std::uint64_t all_bits() const;
    std::uint64_t object_bytes() const;
    std::uint64_t detail() const;
  };
  using Chunks = std::map<std::uint64_t, Chunk>;  // by first block

  struct Slot {
    Chunks::iterator chunk;
    std::uint64_t bit;  // 0: no such object
  };

  // Where loading has got to, and what it takes.
  struct Loading {
    std::uint32_t found_version;
    Account account;
    std::uint64_t next_free = 0;
  };

  Result<Offset> reserve_slot(std::size_t size_class, Account account);
  Result<Offset> reserve_run(std::uint64_t size_bytes, Account account);
  Offset add_run(std::uint64_t block, std::uint64_t blocks, std::uint64_t size_bytes,
                 Account account);
  Status load_entry(ConstBytes pool, std::uint64_t block, Loading& loading);
  Status load_piece(ConstBytes pool, const PoolPiece& piece, Loading& loading);
  Status load_group(ConstBytes pool, const PoolPiece& piece, std::uint64_t group, Loading& loading);
  // Free blocks for a chunk of that account.
  Result<std::uint64_t> take_blocks(Account account, std::uint16_t blocks);
  void add_loaded(std::uint64_t block, const pool_format::ChunkHead& head, std::uint64_t detail);
  pool_format::BlockEntry entry(Chunks::const_iterator chunk) const;
  // Makes the objects of these bits live, or no longer live, and counts them.
  void change_live(Chunks::iterator chunk, std::uint64_t bits, bool live);
  void put_entry(Chunks::const_iterator chunk, WordSet& words) const;
  Chunks::iterator chunk_at(Offset offset) const;
  Slot find(Offset offset) const;
  void list(Chunks::iterator chunk);
  void count_head(std::uint64_t block, bool added, WordSet& words);
  Offset place_of(std::uint64_t block) const;
  Offset entry_of(std::uint64_t block) const;

  PoolLayout layout_;
  Extents extents_;
  mutable Chunks chunks_;
  // Chunks of each account and class that may have room, newest last; entries may be stale.
  std::array<std::array<std::vector<std::uint64_t>, size_classes.size()>, account_count> with_room_;
  std::vector<std::uint64_t> summary_;
  std::unordered_map<std::uint64_t, std::uint32_t> heads_in_group_;
  std::uint64_t live_objects_ = 0;
  std::uint64_t live_bytes_ = 0;
  AccountsUsage accounts_{};
  AccountRooms rooms_;
  std::uint64_t total_ = 0;
};

}  // namespace remora
