// The layout of a pool, as it lies on the medium. docs/formats/pool.md is its document; this header
// and that text say the same. Little-endian, offsets from the start of the pool, never pointers.
//
//   header | roots | log control | log slots | summary | block table | blocks
//
// All zero is the valid initial state of everything but the header.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"

namespace remora {

// A place in a pool, in bytes from its start. 0 is the header, so it serves as "nowhere".
using Offset = std::uint64_t;

namespace pool_format {

inline constexpr std::array<char, 8> magic = {'R', 'E', 'M', 'O', 'R', 'A', 'P', 'L'};
inline constexpr std::uint32_t version = 1;
inline constexpr std::uint64_t smallest_pool_bytes = 256 << 10;
inline constexpr std::uint64_t largest_pool_bytes = std::uint64_t{1} << 46;
inline constexpr std::uint64_t block_bytes = 4096;
inline constexpr std::uint64_t blocks_per_group = 256;  // one bit of the summary

using Uuid = std::array<std::uint8_t, 16>;

// Written once, when the pool is created, and never again.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t segments;  // 1: the table below describes the whole pool; more is room to grow
  Uuid uuid;
  std::uint64_t size_bytes;
  Offset roots;
  Offset log_control;
  Offset log_slots;
  Offset summary;
  Offset table;
  Offset blocks;
  std::uint64_t block_count;
  std::uint32_t root_count;
  std::uint32_t log_slot_count;
  std::array<std::uint64_t, 18> reserved;  // zero
  std::uint32_t reserved_tail;             // zero
  std::uint32_t checksum;                  // crc32c of all bytes before it
};
static_assert(sizeof(Header) == 256 && std::has_unique_object_representations_v<Header>);
static_assert(offsetof(Header, checksum) == 252);

// A named root: a word that a program finds again by its name.
struct Root {
  std::uint64_t in_use;  // 0 or 1
  std::uint64_t value;
  std::array<char, 48> name;  // padded with zeros
};
static_assert(sizeof(Root) == 64 && std::has_unique_object_representations_v<Root>);

// What of the log counts. Records of another epoch are dead; those up to `retired` are in place.
struct LogControl {
  std::uint64_t epoch;
  std::uint64_t retired;
};
static_assert(sizeof(LogControl) == 16);

inline constexpr std::uint64_t log_slot_bytes = 1024;

// The head of a log record. `writes` Writes follow, then `seals` Seals.
struct RecordHead {
  std::uint64_t sequence;
  std::uint64_t epoch;
  std::uint32_t writes;
  std::uint32_t seals;
  std::uint32_t reserved;  // zero
  std::uint32_t checksum;  // crc32c of the bytes before it and of the entries after it
};
static_assert(sizeof(RecordHead) == 32 && offsetof(RecordHead, checksum) == 28);

// "Put this value at that place."
struct Write {
  Offset place;
  std::uint64_t value;
};
static_assert(sizeof(Write) == 16);

// "The bytes there have this checksum, or the record does not count."
struct Seal {
  Offset place;
  std::uint32_t size_bytes;
  std::uint32_t checksum;
};
static_assert(sizeof(Seal) == 16 && sizeof(Seal) == sizeof(Write));

inline constexpr std::size_t record_entries = (log_slot_bytes - sizeof(RecordHead)) / sizeof(Write);

// What the first block of a chunk says of it; the entries of its other blocks are zero.
enum class ChunkKind : std::uint8_t {
  none = 0,
  slots = 1,  // objects of one size class; `detail` has a bit for each object that lives
  run = 2,    // one object; `detail` is its size in bytes
};

struct BlockEntry {
  std::uint64_t head;  // kind in bits 0-7, size class in 8-15, blocks of the chunk in 32-63
  std::uint64_t detail;
};
static_assert(sizeof(BlockEntry) == 16);

struct ChunkHead {
  ChunkKind kind = ChunkKind::none;
  std::uint8_t size_class = 0;
  std::uint32_t blocks = 0;

  constexpr std::uint64_t word() const {
    return static_cast<std::uint64_t>(kind) | std::uint64_t{size_class} << 8 |
           std::uint64_t{blocks} << 32;
  }
  // Bits 16-31 must be zero: a word that has them is damaged.
  static constexpr bool plausible(std::uint64_t word) {
    return (word & 0xffff0000) == 0 && (word & 0xff) <= 2;
  }
  static constexpr ChunkHead from(std::uint64_t word) {
    return ChunkHead{static_cast<ChunkKind>(word & 0xff), static_cast<std::uint8_t>(word >> 8),
                     static_cast<std::uint32_t>(word >> 32)};
  }
};

// Where everything lies in a pool of that size. The size must be within the bounds above; it is
// rounded down to whole blocks.
Header plan(std::uint64_t size_bytes, const Uuid& uuid);

std::uint32_t checksum_of(const Header& header);

// Whether these first bytes of a file are a header that this version can serve, for a file of
// `file_bytes`. `path` is for the message.
Status verify(const Header& header, std::uint64_t file_bytes, std::string_view path);

}  // namespace pool_format
}  // namespace remora
