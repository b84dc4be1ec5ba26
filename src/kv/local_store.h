// LocalStore: a store as its server's own process uses it, with no NIC between: for front ends that
// live in the server (Redis clients) and for a store that is embedded in a program. Natives, their
// flows and the background go on beside it; all see the same versions.
//
// Nothing here waits but what says so (a Task). One thread, the server's. The server outlives it.
//
// Durability. Every change has a Mark, and marks grow. A change is made, seen by all, and ordered
// by the time the call returns; it is persistent when `persistent(mark)` has ended with success, or
// `persistent_now()` has reached the mark. Before that a power cut may lose it, wholly, never torn,
// and never while it keeps a later change of the same key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/multi_write.h"
#include "kv/store.h"
#include "runtime/task.h"

namespace remora::kv {

class LocalStore {
 public:
  using Mark = std::uint64_t;
  // Milliseconds since 1970; 0: never. A key whose time has come is not there, for any client.
  using Expiry = std::uint64_t;

  virtual ~LocalStore() = default;

  struct Found {
    ConstBytes value;  // where it lies in the pool: until the next change here, or the next wait
    Expiry expires = 0;
    std::uint64_t version = 0;  // another one after every put of this key, and never 0
    // The value fails its checksum, though it was persistent; none is given. A put or del mends it.
    bool damaged = false;
  };
  virtual std::optional<Found> get(ConstBytes key) = 0;

  // The value is the pieces, one after the other; they are copied once. Failures: invalid_argument
  // (sizes), no_space (wait for `room`, then once more), io_error (the pool has failed).
  virtual Result<Mark> put(ConstBytes key, std::span<const ConstBytes> value,
                           Expiry expires = 0) = 0;
  // Of a key that is not there: the mark of now.
  virtual Result<Mark> del(ConstBytes key) = 0;

  // All keys go at once: whole, or not at all where a power cut comes before it is persistent.
  // Takes no longer for many keys; their space comes back afterwards. in_use: native clients must
  // follow first; wait for `room`, then once more. io_error as above.
  virtual Result<Mark> clear() = 0;

  using Write = kv::Write;
  // All of them in order, from `made` on, which counts them; failures as above. Sizes are looked at
  // and room is asked for before the first is made, for all as if their keys were new, so that none
  // is made where that fails. Only where free space is in pieces may a large one find no room later
  // than that: `made` tells.
  virtual Result<Mark> write_all(std::span<const Write> writes, std::size_t& made) = 0;

  // Several keys at once, wholly or not at all: the mark is that of all. Failures: as of a put;
  // conflict (a condition does not hold), damaged (one names a damaged key), in_use (the value of a
  // key that one names is on its way: try again), invalid_argument (a key stands twice). Nothing
  // happens then.
  virtual Result<Mark> write_together(const MultiWrite& what);

  // Ends when cleaning has made space, or with no_space when there is nothing left to clean.
  virtual Task<Status> room() = 0;

  virtual Mark now() const = 0;             // of the last change
  virtual Mark persistent_now() const = 0;  // every change up to this one is persistent
  virtual Task<Status> persistent(Mark mark) = 0;
  // Whether this change is persistent; made so where that takes no waiting.
  virtual bool made_persistent(Mark mark) { return persistent_now() >= mark; }
  // Makes every change persistent before it returns, blocking the thread: for who knows that nobody
  // has anything better to wait for. Nothing where others would wait with it, or where a commit is
  // under way already; then `persistent` is the way.
  virtual std::optional<Status> persistent_at_once() { return std::nullopt; }

  // Success, or why nothing becomes persistent any more: changes are refused with it from then on.
  virtual Status failure() const { return Status(); }
  // Whether a part of what it reads is gone (base/lost_memory.h): it has failed, and what was just
  // found in it may be wrong.
  virtual bool lost() const { return false; }
  // Success, or why there can be no changes, though nothing has failed.
  virtual Status changeable() const { return Status(); }
  // Only for a store that has failed: whether a power cut may take what is known of this key.
  virtual bool is_in_doubt(ConstBytes /*key*/) { return false; }

  // As StoreClient::scan, at once.
  virtual ScanCursor scan(ScanCursor from, std::size_t most_keys, ScanSink& sink) = 0;
  // As many as gets would find, and those of them that have a time. But keys whose first value is
  // still on its way, from a native client, count too.
  virtual std::uint64_t keys() const = 0;
  virtual std::uint64_t keys_with_expiry() const = 0;

  // For people. What the keys that are there take with their values; what they may take, in about,
  // before the store is full (0: not known); the index, in memory; and keys that have expired.
  struct Tally {
    std::uint64_t live_bytes = 0;
    std::uint64_t usable_bytes = 0;
    std::uint64_t index_bytes = 0;
    std::uint64_t expired_keys = 0;
  };
  virtual Tally tally() const { return {}; }
};

}  // namespace remora::kv
