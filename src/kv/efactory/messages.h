// What eFactory's client and server say to each other. Requests and replies of the RPC; all come
// from outside, so sizes are checked before anything is read.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "fabric/work.h"
#include "kv/common/scan.h"
#include "kv/common/wire.h"
#include "kv/index/index_format.h"
#include "kv/limits.h"
#include "rpc/message.h"

namespace remora::kv::efactory {

enum Message : rpc::Kind {
  hello = 1,         // -> Layout
  put_request = 2,   // PutRequest + key -> PutReply
  get_request = 3,   // key -> GetReply
  del_request = 4,   // key -> nothing
  scan_request = 5,  // ScanRequest -> ScanReply + keys
  persist = 6,       // PersistRequest -> nothing
  arrived = 7,       // RoundReply: the client has taken note of a Layout -> nothing
  new_layout = 8,    // notice: Layout
  whole_put = 9,     // WholePut + key + value -> nothing
  whole_get = 10,    // key -> GetReply + value; or GetReply alone, of where a longer one is
  // WholePut + key + value -> nothing, when it is persistent. Not a whole_put with a flag: a server
  // that knows no such flag would answer too early.
  persistent_put = 11,
  snapshot = 12,      // SnapshotRequest -> SnapshotReply + SnapshotSegment*
  end_snapshot = 13,  // -> nothing
  // As get_request and whole_get, of a value that is verified before it is told of: for a client
  // that has seen one which fails its checksum.
  checked_get = 14,
  checked_whole_get = 15,
  // TogetherPart + bytes of a write of several keys (together_message.h) -> nothing, after the last
  // part when it has happened, and is persistent where that is asked for. A server that does not
  // know them refuses them.
  together = 17,
  persistent_together = 18,
  segments = 16,  // SegmentsRequest -> SegmentsReply + SegmentKey* (kv/common/segment_keys.h)
};

// How a client finds what it gets.
enum class Reads : std::uint64_t {
  asked = 0,    // it asks the server where
  by_mark = 1,  // by READs: in the place of the index entry that the mark names
  // By READs while the log is cleaned: in the place for the new data pool or, where that is empty,
  // in the other. The mark is not heeded: it changes meanwhile.
  first_newer = 2,
  second_newer = 3,
};

// All that a client needs to reach the store by itself, and how it may. A layout replaces the one
// before; the client says `arrived` when nothing that it began under an earlier one is under way.
struct Layout {
  std::uint64_t round = 0;
  fabric::RemoteAddress pool;
  std::uint64_t pool_bytes = 0;
  fabric::RemoteAddress index;
  IndexGeometry geometry;
  std::uint64_t put_timeout_ns = 0;
  Reads reads = Reads::asked;
  std::uint64_t whole_value_bytes = 0;  // up to which a value may come within the request
  // Not 0: the pool has no key. Its segments have, and are asked for.
  std::uint64_t by_segment = 0;
};

struct PutRequest {
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t client_sum = 0;
  // Not 0: `persist` follows the value, and nobody need look for it.
  std::uint32_t will_persist = 0;
};

// The longest value of a whole_put, persistent_put or whole_get, and the longest messages: any more
// would take memory from every client that never has one.
inline constexpr std::uint32_t whole_value_bytes_max = 4096;
inline constexpr std::uint32_t request_bytes_max = 5632;
inline constexpr std::uint32_t reply_bytes_max = 4352;

// The value that follows the key is the rest of the message.
struct WholePut {
  std::uint32_t key_bytes = 0;
  std::uint32_t reserved = 0;
};

static_assert(sizeof(WholePut) + limits::key_bytes + whole_value_bytes_max <= request_bytes_max);

// The part is the rest of the message. Parts come one after the other, and nothing of them happens
// before the last one; one with the offset 0 begins anew.
struct TogetherPart {
  std::uint64_t total_bytes = 0;
  std::uint64_t offset = 0;
};

struct PutReply {
  std::uint64_t value_offset = 0;  // in the pool: where the value goes
  std::uint64_t object_offset = 0;
  std::uint64_t sequence = 0;
};

struct GetReply {
  std::uint64_t object_offset = 0;  // 0: the value is the rest of the message
  std::uint64_t size_bytes = 0;
  std::uint64_t sequence = 0;
};

static_assert(sizeof(GetReply) + whole_value_bytes_max <= reply_bytes_max);

struct PersistRequest {
  std::uint64_t object_offset = 0;
  std::uint64_t sequence = 0;
};

struct RoundReply {
  std::uint64_t round = 0;
};

// A snapshot is a list of segments, each up to where it was filled when the snapshot was made. As
// long as it stands, none of them is cleaned. A server has one at a time, and ends it when it needs
// the room.
struct SnapshotRequest {
  std::uint64_t id = 0;    // 0: a new one; else one that was made, if it stands
  std::uint64_t from = 0;  // the first segment to be listed
};

// Followed by segments.
struct SnapshotReply {
  std::uint64_t id = 0;
  std::uint64_t segments = 0;  // of all of the snapshot
  std::uint64_t size_bytes = 0;
  std::uint64_t listed = 0;  // in this message
};

struct SnapshotSegment {
  std::uint64_t number = 0;
  std::uint64_t offset = 0;  // in the pool
  std::uint64_t size_bytes = 0;
};

static_assert(sizeof(SnapshotReply) + sizeof(SnapshotSegment) <= reply_bytes_max);

}  // namespace remora::kv::efactory
