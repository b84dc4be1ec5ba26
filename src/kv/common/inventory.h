// Inventory: the objects of a store whose recovery trusts one thing, the durable flag of each
// object, and the index that leads to the newest of them. The engines without checksums have it:
// rpc, ca, saw, imm. What differs between them is when the flag is set and when the index follows.
//
// Versions are ordered by the sequence number that they got with their space. The index leads to
// the newest that was published, whatever the order in which values come: the order that recovery
// finds is the one that readers saw. Tombstones stay in the index while the server lives, since an
// older version may be published after its key was deleted.
//
// One thread; host and pool outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/faults.h"
#include "base/result.h"
#include "host/host.h"
#include "kv/common/index_memory.h"
#include "kv/common/scan.h"
#include "kv/index/index.h"
#include "kv/log/log.h"
#include "kv/store.h"
#include "pmem/pool.h"

namespace remora::kv {

// An engine's planted mistakes in what it shares with others.
struct InventoryFaults {
  const Fault& del_not_persisted;
  const Fault& recovery_takes_first;
  const Fault* recovery_takes_unflagged;  // none where every version has the flag
};

class Inventory {
 public:
  // A new one, or the one that the pool holds, as options.create says.
  static Result<std::unique_ptr<Inventory>> start(const Host& host, Pool& pool,
                                                  const ServerOptions& options,
                                                  std::string_view engine,
                                                  const InventoryFaults& faults);

  // Space for a version, with header and key, which are flushed. Nothing leads to it.
  Result<Object> append(ConstBytes key, std::uint32_t value_bytes, std::uint64_t flags = 0);
  // The index leads to this version, unless it leads to a newer one.
  void publish(const Object& object);
  // A tombstone; the del has happened when the ticket is persistent.
  Result<Ticket> del(ConstBytes key);

  // The version that the index leads to; none when there is no such key, once the ticket of the
  // newest del is persistent.
  std::optional<Object> find(ConstBytes key) const;
  Ticket last_del() const { return last_del_; }
  // The version that a client names, if it is there.
  Result<Object> find(Offset offset, std::uint64_t sequence) const;

  std::size_t scan(const ScanRequest& ask, Bytes body) const;

  Log& log() { return *log_; }
  const Index& index() const { return *index_; }
  Region* index_region() const { return memory_.region.get(); }
  // Grows by one whenever the index moves.
  std::uint64_t generation() const { return generation_; }

 private:
  Inventory(const Host& host, const ServerOptions& options, const InventoryFaults& faults);
  IndexSlot slot_of(Tag tag, ConstBytes key) const;
  Object newest(IndexSlot slot) const { return log_->at(slot.place(0).offset); }
  void grow();
  void take_recovered(const std::vector<Offset>& found);

  const Host host_;
  const InventoryFaults faults_;
  std::unique_ptr<Log> log_;
  IndexMemory memory_;
  std::vector<IndexMemory> retired_;
  std::unique_ptr<Index> index_;
  std::uint64_t generation_ = 1;
  std::uint64_t sequence_ = 0;
  Ticket last_del_;
};

}  // namespace remora::kv
