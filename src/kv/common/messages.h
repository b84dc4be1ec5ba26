// What clients and servers of the plain engines say to each other: those that reach one pool and
// one index, with no rounds. Requests and replies of the RPC.
#pragma once

#include <cstdint>

#include "fabric/work.h"
#include "kv/index/index_format.h"
#include "rpc/message.h"

namespace remora::kv {

enum PlainMessage : rpc::Kind {
  hello = 1,             // -> PlainLayout
  put_request = 2,       // PutRequest + key -> PutReply; engines may have their own body
  get_request = 3,       // key -> GetReply; engines may have their own reply
  del_request = 4,       // key -> nothing
  scan_request = 5,      // ScanRequest -> ScanReply + keys
  persist_request = 6,   // PersistRequest -> nothing
  segments_request = 7,  // SegmentsRequest -> SegmentsReply + SegmentKey* (segment_keys.h)
  first_of_engine = 16   // from here on, each engine's own
};

// All that a client needs to reach the store by itself. It is asked for again when a reply names
// another generation: the index has moved.
struct PlainLayout {
  std::uint64_t generation = 0;
  fabric::RemoteAddress pool;
  std::uint64_t pool_bytes = 0;
  fabric::RemoteAddress index;
  IndexGeometry geometry;
  // Not 0: the pool has no key. Its segments have, and are asked for.
  std::uint64_t by_segment = 0;
  // For engines whose clients do not do the same at all times: what they do now.
  std::uint64_t phase = 0;
};

struct PutRequest {
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t client_sum = 0;  // 0 where the design has no checksum
  std::uint32_t reserved = 0;
};

struct PutReply {
  std::uint64_t value_offset = 0;  // in the pool: where the value goes
  std::uint64_t object_offset = 0;
  std::uint64_t sequence = 0;
};

struct GetReply {
  std::uint64_t object_offset = 0;  // 0: there is no such key
  std::uint64_t size_bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t generation = 0;
};

struct PersistRequest {
  std::uint64_t object_offset = 0;
  std::uint64_t sequence = 0;
};

}  // namespace remora::kv
