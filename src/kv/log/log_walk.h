// The walk over a segment, object by object. Nothing that it reads is believed before its checksum
// is right: it stays within the segment whatever the bytes are.
#pragma once

#include <cstring>
#include <vector>

#include "kv/log/log.h"

namespace remora::kv {

// Calls visit(const Object&) for the objects in the first `limit` bytes of the segment, up to the
// first that is missing or damaged, and returns where they end, from the segment's start. Without
// `verify` (a planted mistake) headers are believed as they are.
template <typename Visit>
std::uint64_t walk(std::byte* pool, const Segment& segment, std::uint64_t limit, const Visit& visit,
                   bool verify = true) {
  constexpr std::uint64_t ahead = 6;
  std::uint64_t end = 0;
  while (limit - end >= sizeof(object_format::Header)) {
    const Offset offset = segment.offset + end;
    object_format::Header header;
    std::memcpy(&header, pool + offset, sizeof header);
    if (header.segment != segment.number || !object_format::plausible(header, limit - end)) {
      break;
    }
    const ConstBytes key(pool + offset + sizeof header, header.key_bytes);
    if (verify && header.header_checksum != object_format::header_checksum(header, key)) {
      break;
    }
    visit(Object(pool + offset, offset));
    const std::uint64_t size = object_format::size_bytes(header.key_bytes, header.value_bytes);
    // Neighbours are often of one size: then this is where the header will be, some steps from now,
    // which otherwise is known only when all before it have come.
    if (ahead * size < limit - end) {
      __builtin_prefetch(pool + offset + ahead * size);
    }
    end += size;
  }
  return end;
}

// Goes on behind damage: from `begin`, where a header failed, to the end of the segment. The next
// object begins at a multiple of 64 B, and has a right checksum and the number of the segment. What
// is skipped on the way, as far as it lies before the segment's mark, is added to `damage`. Returns
// where the last object ends, or the mark if that is behind it.
template <typename Visit>
std::uint64_t walk_on(std::byte* pool, const Segment& segment, std::uint64_t begin,
                      const Visit& visit, std::vector<LogDamage>& damage) {
  std::uint64_t end = begin;  // of what is known
  for (std::uint64_t at = begin; at < segment.end_bytes;) {
    Segment rest = segment;
    rest.offset += at;
    const std::uint64_t size = walk(pool, rest, segment.capacity_bytes - at, visit);
    if (size == 0) {
      at += object_format::alignment_bytes;
      continue;
    }
    if (at != end) {
      damage.push_back({segment.number, segment.offset + end, at - end});
    }
    end = at += size;
  }
  if (end < segment.end_bytes) {
    damage.push_back({segment.number, segment.offset + end, segment.end_bytes - end});
    end = segment.end_bytes;
  }
  return end;
}

}  // namespace remora::kv
