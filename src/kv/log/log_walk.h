// The walk over a segment, object by object. Nothing that it reads is believed before its checksum
// is right: it stays within the segment whatever the bytes are.
#pragma once

#include <cstring>

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

}  // namespace remora::kv
