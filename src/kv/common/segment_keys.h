// SegmentKeys: how a client reaches the log by itself where the device cannot ask a guard.
//
// An RDMA device executes what a peer asks for without a word to this program: rights are those of
// a registered region, and nothing finer. So such a client gets no region of the whole pool. It is
// given the segments of the log, each registered by itself, with a key of its own. Header, roots,
// redo log, block table, superblock and whatever other services keep in the pool are in none of
// them. When a segment has gone, so has its key.
//
// WHO KNOWS WHICH KEY. The client asks for the list when it comes to a place that it has no key
// for. Space of a segment that goes may come back as a segment with another key, so a list is good
// for one round alone (kv/efactory/rounds.h): a client that asks under the newest round is told
// nothing of segments that are about to go, and a list from before is dropped with the operations
// that began before. Engines without rounds never use space again.
//
// Both halves belong to one thread each, that of their host's loop.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/device.h"
#include "kv/common/wire.h"
#include "kv/log/log.h"
#include "rpc/caller.h"
#include "runtime/task.h"

namespace remora::kv {

struct SegmentsRequest {
  std::uint64_t round = 0;  // that the client asks under
  std::uint64_t from = 0;   // segments at this place in the pool and behind it are to be listed
};

// Followed by keys, in the order of places.
struct SegmentsReply {
  std::uint64_t next = 0;    // the place of the first that found no room; 0: none
  std::uint64_t listed = 0;  // in this message
};

struct SegmentKey {
  std::uint64_t offset = 0;  // in the pool
  std::uint64_t size_bytes = 0;
  fabric::RemoteAddress first;  // the segment's first byte, as peers name it
};

// The server's half: what one client was given.
class SegmentKeys {
 public:
  // The domain, the region and the log outlive it.
  SegmentKeys(fabric::ProtectionDomain& domain, Region& region, const Log& log,
              fabric::AccessFlags rights)
      : domain_(domain), region_(region), log_(log), rights_(rights) {}

  // Writes a SegmentsReply and keys; registers what was not. `leaving`: not to be listed.
  Result<std::size_t> list(const SegmentsRequest& ask, std::span<const Segment> leaving,
                           Bytes body);
  // Takes back the keys of segments that are no more. The client has been told, or is gone.
  void drop_freed();

 private:
  struct Shared {
    SegmentNumber number = 0;
    std::unique_ptr<fabric::MemoryRegion> region;
  };

  Status share_all();

  fabric::ProtectionDomain& domain_;
  Region& region_;
  const Log& log_;
  const fabric::AccessFlags rights_;
  std::map<Offset, Shared> shared_;
};

// The client's half: the keys that it was told.
class SegmentTable {
 public:
  // Where these bytes are for work requests; nothing where no key is known.
  std::optional<fabric::RemoteAddress> find(std::uint64_t offset, std::uint64_t size_bytes) const;
  // Takes over what a reply lists. The place to ask from next; 0 when all are here. closed when it
  // is no such reply.
  Result<std::uint64_t> take(ConstBytes reply, std::uint64_t from, std::uint64_t pool_bytes);
  // Asks for all, by requests of this kind.
  Task<Status> learn(rpc::Caller& caller, rpc::CallSlot& slot, rpc::Kind kind, std::uint64_t round,
                     std::uint64_t pool_bytes);
  void clear() { keys_.clear(); }

 private:
  std::vector<SegmentKey> keys_;  // ascending
};

}  // namespace remora::kv
