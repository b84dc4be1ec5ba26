// Peers: the clients of the store, what each of them reaches by itself, and what it has on its way.
//
// GRANTS. A client writes the values of its own puts, and nothing else: its region is guarded by
// the table of what it was granted (kv/common/store_guard.h). A grant is open from the reply that
// names it until its version is found whole. A grant whose version was superseded or given up stays
// open until the client has arrived in a later round; after that its space may be used again. So a
// client that is slow, or that lost against a newer version, is no intruder.
//
// On `mapped` a writer reaches all blocks of the pool; header, roots, redo log and block table lie
// before its region. Where the device cannot ask a guard, it reaches the segments of the log
// (kv/common/segment_keys.h).
//
// One thread, the loop's. The host and the catalogue outlive it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "kv/common/segment_keys.h"
#include "kv/common/store_guard.h"
#include "kv/efactory/catalogue.h"
#include "rpc/server.h"

namespace remora::kv::efactory {

struct Peer {
  std::unique_ptr<StoreGuard> guard;           // outlives the region
  std::unique_ptr<fabric::MemoryRegion> pool;  // from its first block on; or else:
  std::unique_ptr<SegmentKeys> segments;
  std::unique_ptr<fabric::MemoryRegion> index;
  std::unique_ptr<fabric::MemoryRegion> old_index;  // until the round that replaces it is over
  std::uint64_t values = 0;                         // on their way, and their space
  std::uint64_t value_bytes = 0;

  // Its part in rounds (rounds.h).
  struct Attendance {
    std::uint64_t round = 0;        // that it has arrived in
    std::uint64_t first_grant = 0;  // that may outlive this round
    std::uint64_t silent_ns = 0;    // in this round, while nothing was owed to it
    std::uint64_t late_ns = 0;      // in this round
    bool is_told = true;            // of this round
  };
  Attendance attendance;
};

class Peers {
 public:
  Peers(const Host& host, Catalogue& catalogue, const ServerOptions& options);

  // A client that has come, and has begun nothing: it need not arrive in the round that is held.
  Status join(const rpc::Session& session, std::uint64_t round);
  // A client that has gone. What it was granted stays as it is until it can write no more: false
  // until then.
  bool leave(const rpc::Session& session);

  bool empty() const { return peers_.empty(); }
  Peer& at(rpc::SessionId session) { return peers_.at(session); }
  template <typename Visit>
  void for_each(const Visit& visit) {
    for (auto& [id, peer] : peers_) {
      visit(peer);
    }
  }

  // So much of the pool is shared, from its beginning.
  std::uint64_t pool_bytes() const { return pool_bytes_; }
  // Shares so much of it, by the same keys: it is about to grow.
  void share_more(std::uint64_t pool_bytes);

  // Shares the index as it lies now. The one before stays shared until it is dropped.
  Status share_index(const rpc::Session& session);
  void drop_old_indexes();
  // Takes back the keys of segments that are no more.
  void drop_freed_segments();

  // The value there stands still; with the session that put it, if that is known.
  void close_grant(Offset object);
  void close_grant(Offset object, rpc::SessionId owner) {
    if (const auto peer = peers_.find(owner); peer != peers_.end()) {
      peer->second.guard->close(object);
    }
  }
  // A value is not on its way any more: it is durable, or nobody waits for it.
  void arrived_or_lost(const Awaited& version) {
    if (const auto peer = peers_.find(version.owner); peer != peers_.end()) {
      --peer->second.values;
      peer->second.value_bytes -= version.size_bytes;
    }
  }

 private:
  Status share_log(const rpc::Session& session, Peer& peer);
  Status share_index(const rpc::Session& session, Peer& peer);

  const Host host_;
  Catalogue& catalogue_;
  const bool by_segment_;
  ReadableSpace readable_;
  std::uint64_t pool_bytes_;
  std::map<rpc::SessionId, Peer> peers_;
};

}  // namespace remora::kv::efactory
