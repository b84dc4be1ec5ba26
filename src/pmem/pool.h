// Pool: persistent memory with a name for everything. Objects of 64 B to 64 MB, named roots that
// lead to them, and transactions that change several words, objects and roots together or not at
// all. A power cut at any point leaks nothing and loses nothing that was acknowledged.
//
// The life of an object:
//   1. reserve() gives space. The medium knows nothing of it: a cut, or cancel(), frees it.
//   2. The caller, or a peer by RDMA, fills it.
//   3. A transaction publishes it and, together with that, links it: a root, or a word of another
//      published object. From then on it is live.
//   4. A transaction frees it and unlinks it. Its space is reused only after the log can no longer
//      bring it back.
//
// Words that transactions set belong to them: they are never written in another way while the
// object lives, and are read with load(), since on page media they are in place only after the
// commit.
//
// One owner thread; the region must outlive the pool. After a failure of the region every call
// that changes something fails with its error: the pool is closed for good and is recovered by
// opening it again.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/faults.h"
#include "base/result.h"
#include "pmem/allocator.h"
#include "pmem/pool_format.h"
#include "pmem/pool_layout.h"
#include "pmem/redo_log.h"
#include "pmem/region.h"
#include "pmem/transaction.h"

namespace remora {

struct PoolUsage {
  std::uint64_t size_bytes = 0;
  std::uint64_t object_count = 0;
  std::uint64_t object_bytes = 0;  // what live objects occupy
  std::uint64_t free_bytes = 0;    // in whole blocks
  std::uint64_t largest_free_bytes = 0;
  AccountsUsage accounts{};  // of the objects, by whose they are
};

// Of the space of a pool, in whole chunks.
struct RoomUsage {
  std::uint64_t held_bytes = 0;  // live, reserved, or freed and not yet released
  std::uint64_t kept_bytes = 0;  // that no other account may take; what is held is a part of it
  std::uint64_t free_bytes = 0;  // that this account may take, besides what it holds
};

class Pool {
 public:
  // Makes a pool of the whole region, which must be fresh: all zero; or of its first `size_bytes`.
  // A cut before it returns leaves either a pool or nothing that looks like one.
  static Result<std::unique_ptr<Pool>> create(Region& region, const pool_format::Uuid& uuid,
                                              const Faults& faults = Faults(),
                                              std::uint64_t size_bytes = 0);

  // Opens a pool and recovers it. Costs time in proportion to what is live (and 8 bytes read for
  // each 64 MiB of pool). `name` is for messages. A pool that is refused as damaged is left as it
  // was, but for log records that were replayed. A pool of an earlier version is brought up to
  // date, which reads its whole block table, once; a cut on the way leaves a pool that is opened
  // again in the same way.
  static Result<std::unique_ptr<Pool>> open(Region& region, std::string_view name,
                                            const Faults& faults = Faults());

  // Makes the pool larger, at the end: persistent when it returns. A cut before that leaves the
  // pool with its old size or with the new one. The region must have the bytes already; what is in
  // them does not matter. invalid_argument when the pool cannot have that size; then nothing
  // changes. Blocks (pool_grow.cpp).
  Status grow(std::uint64_t size_bytes);

  // The same in steps that do not block, for who serves meanwhile; one growth at a time. One that
  // is not gone on with has changed nothing.
  struct Growth {
    PoolLayout layout;
    Offset written = 0;  // up to there
  };
  Result<Growth> begin_growth(std::uint64_t size_bytes) const;
  // Writes up to so many bytes of what the new piece begins with. The ticket of all of it, or
  // nothing while there is more.
  std::optional<Ticket> write_growth(Growth& growth, std::uint64_t most_bytes);
  // Once that ticket is persistent: the pool is larger when this one is.
  Ticket count_growth(const Growth& growth);
  // Once that is persistent: the new space is there to be used.
  void end_growth(Growth&& growth);

  // For saving what is whole in a pool that open() refuses: goes on where a check fails, and lists
  // what is wrong, most of it with its place. Replays the log in the region, which is therefore a
  // private view, and makes nothing persistent. Through this pool nothing can be changed. Fails
  // when the region is no pool, is of a later version, or ends before the pool does, as far as the
  // header and what was added to the pool still say where that is.
  static Result<std::unique_ptr<Pool>> open_damaged(Region& region, std::string_view name,
                                                    PoolFindings& findings);
  // Makes object() and is_live() know bytes that a damaged table no longer describes, for whoever
  // knows from elsewhere that an object is there. Only for a pool from open_damaged().
  Status adopt(Offset offset, std::uint64_t size_bytes);

  // Space for an object, aligned to a cache line; its bytes are undefined. no_space when the pool
  // is full. On page media it may block for commits when only freed space that waits is left.
  // `account` says whose it is; what it occupies is counted there once it lives. no_space, too,
  // when the space that is free is kept for others: the message says for whom.
  Result<Offset> reserve(std::uint64_t size_bytes, Account account = Account::none);
  // For who lays objects side by side, as files do (pool_runs.cpp). Both reserve whole blocks: at a
  // place, or no_space where it is not free; or the largest piece there is, when no piece has that
  // size.
  Result<Offset> reserve_at(Offset place, std::uint64_t size_bytes,
                            Account account = Account::none);
  Result<ReservedRun> reserve_most(std::uint64_t size_bytes, Account account = Account::none);
  // Makes two objects of one that has whole blocks of its own: the first keeps so many bytes, a
  // multiple of 4 KiB. No byte of either changes, and what leads to the first still does. Of an
  // object that lives this is a record, which a cut leaves or does not; so the end of an object is
  // given back by splitting it, and freeing the second. invalid_argument when it cannot be split.
  Result<Ticket> split(Offset offset, std::uint64_t first_bytes);
  // The object that the byte at `offset` belongs to, or 0 when that is no object. It need not live.
  Offset object_at(Offset offset) const { return allocator_.object_at(offset); }
  Account account_of(Offset offset) const { return allocator_.account_of(offset); }

  // From now on, until the pool is closed, so much of it is kept for this account, what it holds
  // among that, and no other can take it; and not what was kept before. no_space when others hold
  // it, or it is kept for them. A service says so when it starts: the medium does not know.
  Status keep(Account account, std::uint64_t size_bytes);
  RoomUsage room(Account account) const;
  // Of the room that is free, what lies in pieces of that size: an object of that size finds a
  // place in each. And what would after reserve(size_bytes), or nothing where that finds no room
  // without a wait. Sizes in whole blocks.
  std::uint64_t whole_bytes(Account account, std::uint64_t piece_bytes) const {
    return allocator_.whole_bytes(account, piece_bytes);
  }
  std::optional<std::uint64_t> whole_bytes_after(std::uint64_t size_bytes, Account account,
                                                 std::uint64_t piece_bytes) const {
    return allocator_.whole_bytes_after(size_bytes, account, piece_bytes);
  }

  // Gives reserved space back that was not published.
  Status cancel(Offset offset);

  // Changes all that the transaction says, or nothing. When the ticket is persistent the change is.
  // Objects that are not sealed are made persistent first, which on page media takes a commit of
  // its own and blocks for it; a transaction with sealed objects only never does.
  Result<Ticket> commit(const Transaction& transaction);

  bool persistent(Ticket ticket) const { return region_.persistent(ticket); }
  // Blocks until the ticket is persistent.
  Status wait(Ticket ticket);

  // The bytes of an object: its size rounded up to what it occupies. The offset must be that of an
  // object that is reserved or live.
  Bytes object(Offset offset);
  bool is_live(Offset offset) const {
    return allocator_.is_live(offset) || adopted_bytes(offset) != 0;
  }
  // The newest value of a word that transactions set. Aligned, within the pool.
  std::uint64_t load(Offset word) const { return log_.load(word); }

  // The object that a root leads to, or not_found.
  Result<Offset> root(std::string_view name) const;
  std::vector<std::string> root_names() const;
  // Those of a service (pool_format.h, owner_of_root).
  std::vector<std::string> root_names(Account account) const;

  void for_each_object(const std::function<void(Offset, std::uint64_t size_bytes)>& visit) const {
    allocator_.for_each_live(visit);
  }

  // Compares header, log control, roots, summary and block table, as they are in the region now,
  // with what they must be. Costs time in proportion to the size of the pool, and changes nothing.
  Status check_in_full();

  // For who serves, about once a second: keeps the log's mark near its newest record, so that
  // little lies behind it. Never blocks; on page media it asks for the commits that it needs, and
  // is called again when one has ended while it returns true. Does nothing, and asks for no commit,
  // when nothing is to be done.
  Result<bool> tend();

  // The orderly end: blocks until the log's mark covers every record. From then on nothing can be
  // changed; what is there can still be read. A pool that is not closed is recovered all the same.
  Status close();

  PoolUsage usage() const;
  // Of the first piece; the whole is described by layout().
  const pool_format::Header& header() const { return layout_.header(); }
  const PoolLayout& layout() const { return layout_; }
  std::uint64_t size_bytes() const { return layout_.size_bytes(); }
  Region& region() { return region_; }
  // The format version that opening found; header() has the one that the pool is of now.
  std::uint32_t found_version() const { return found_version_; }
  // How many log records opening had to replay.
  std::uint64_t replayed_records() const { return replayed_; }

 private:
  // As the first page was found.
  Pool(Region& region, const PoolLayout& layout, const Faults& faults);

  Status recover();
  // From version 1 to this one, in place: pool_upgrade.cpp.
  Status upgrade();
  // With one word, on its way when this returns: the header's version and segments.
  void write_version(const pool_format::Header& header);
  Account account_of_version_one() const;
  // Whether changes are possible: the first failure of the region is final.
  Status usable();
  // What `reserve` gives; where it has no space, again when freed space that waits has come back.
  template <typename Reserve>
  auto reserve_or_wait(const Reserve& reserve) -> decltype(reserve());
  Status load_roots();
  void salvage(PoolFindings& findings);
  Status check_root(std::size_t index) const;
  // 0: not adopted.
  std::uint64_t adopted_bytes(Offset offset) const;
  // Whether the newest value of that word is this.
  bool is_word(Offset place, std::uint64_t value) const;
  // Version 1 has no total, and neither checks.
  bool is_old() const { return found_version_ == pool_format::oldest_version; }
  // Whether all entries and roots together are those that the total stands for.
  Status check_total() const;
  std::uint64_t total() const { return allocator_.total() + roots_total_; }
  Status check(const Transaction& transaction) const;
  Status check_roots(const Transaction& transaction) const;
  // The index of the root with that name, or roots_.size().
  std::size_t slot_of_root(const std::array<char, Transaction::longest_root_name>& name) const;
  Status persist_objects(const Transaction& transaction);
  void collect_allocations(const Transaction& transaction, WordSet& words);
  void collect_roots(const Transaction& transaction, WordSet& words);
  void put_total(WordSet& words);
  void put_name(std::size_t index, WordSet& words) const;
  void release_retired();
  // Planted mistakes (pool_mistakes.cpp).
  void persist_late(const Transaction& transaction);
  void write_past_log(const WordSet& words);
  Offset root_place(std::size_t index) const;

  // Whether the word lies in bytes that a record which may be replayed has sealed.
  bool is_sealed(Offset word) const;

  struct Sealed {
    Offset offset;
    std::uint64_t content_bytes;
    std::uint64_t sequence;  // of the record that sealed it
  };
  struct Adopted {
    Offset offset;
    std::uint64_t size_bytes;
  };
  struct Freed {
    Offset offset;
    std::uint64_t sequence;  // of the record that freed it
  };

  Region& region_;
  const std::uint32_t found_version_;
  PoolLayout layout_;
  const pool_format::Header header_;  // its places, which nothing changes
  const Faults faults_;
  RedoLog log_;
  Allocator allocator_;
  std::vector<pool_format::Root> roots_;
  std::uint64_t roots_total_ = 0;
  std::vector<Adopted> adopted_;
  std::deque<Freed> freed_;
  std::deque<Sealed> sealed_;
  Status failure_;
  std::uint64_t replayed_ = 0;
};

}  // namespace remora
