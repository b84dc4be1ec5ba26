// The metadata records of Forca, as they lie in persistent memory: chunks, each an object of the
// pool, linked from the root "forca-records". Little-endian.
//
//   chunk:  head (64 B) | records (64 B each)
//
// A record is whole when its checksum is; one that is all zero is free. Records are written in
// order and never again.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "kv/log/object_format.h"
#include "pmem/pool_format.h"

namespace remora::kv::forca {

inline constexpr std::string_view root_name = "forca-records";
inline constexpr std::array<char, 8> chunk_magic = {'R', 'E', 'M', 'O', 'R', 'A', 'F', 'M'};

struct ChunkHead {
  std::array<char, 8> magic;
  std::uint64_t version;  // 1
  Offset next;            // the chunk that was made after this one, or 0; set by a transaction
  std::array<std::uint64_t, 5> reserved;  // zero
};
static_assert(sizeof(ChunkHead) == 64 && std::has_unique_object_representations_v<ChunkHead>);

struct Record {
  Offset object;           // in the log: header, key, value
  std::uint64_t sequence;  // the object's: it tells that the object is the one that is meant
  Offset previous;         // the record of the version before, or 0
  std::uint32_t value_bytes;
  std::uint32_t kind;                     // Kind
  std::uint32_t client_sum;               // object_format::client_checksum of key and value
  std::uint32_t checksum;                 // crc32c of the record with zero here
  std::array<std::uint64_t, 3> reserved;  // zero
};
static_assert(sizeof(Record) == 64 && std::has_unique_object_representations_v<Record>);

inline std::uint32_t checksum_of(Record record) {
  record.checksum = 0;
  return crc32c(object_bytes(record));
}

}  // namespace remora::kv::forca
