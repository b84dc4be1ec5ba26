// The layout of a pool, as it lies on the medium. docs/formats/pool.md is its document; this header
// and that text say the same. Little-endian, offsets from the start of the pool, never pointers.
//
//   header | roots | log control | log slots | summary | block table | blocks
//
// and, for each time that the pool was grown, behind that: summary | block table | blocks.
//
// All zero is the valid initial state of everything but the header and the two words of log
// control. What checks these structures carry, and how they are computed, is in pool_checks.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace remora {

// A place in a pool, in bytes from its start. 0 is the header, so it serves as "nowhere".
using Offset = std::uint64_t;

// Whose a chunk is: services share a pool, and each answers for its own space.
enum class Account : std::uint8_t { none, store, calls, files, memory };
inline constexpr std::size_t account_count = 5;

std::string_view to_string(Account account);

// Whose a root is: its name is that of the account, or begins with that and '/'. Else it is
// nobody's, and may lead to any object.
Account owner_of_root(std::string_view name);

namespace pool_format {

inline constexpr std::array<char, 8> magic = {'R', 'E', 'M', 'O', 'R', 'A', 'P', 'L'};
// Of a pool in one piece, as it is created.
inline constexpr std::uint32_t version = 2;
// Of a pool that was grown: the same, with extensions.
inline constexpr std::uint32_t grown_version = 3;
// Pools of this version and later are opened and brought up to date.
inline constexpr std::uint32_t oldest_version = 1;
inline constexpr std::uint64_t smallest_pool_bytes = 256 << 10;
inline constexpr std::uint64_t largest_pool_bytes = std::uint64_t{1} << 46;
inline constexpr std::uint64_t smallest_growth_bytes = 32 << 10;
inline constexpr std::uint64_t block_bytes = 4096;
inline constexpr std::uint64_t blocks_per_group = 256;  // one bit of the summary

using Uuid = std::array<std::uint8_t, 16>;

// Written once, when the pool is created; of it only version and segments ever change, which are
// one word. All the rest is of the first piece.
struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t
      segments;  // 1; in a pool that was grown, their number, with a check: extensions_of()
  Uuid uuid;
  std::uint64_t size_bytes;  // when the pool was created: PoolLayout knows what it has now
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
  std::uint32_t checksum;  // crc32c of all bytes before it, with version and segments taken as 1
};
static_assert(sizeof(Header) == 256 && std::has_unique_object_representations_v<Header>);
static_assert(offsetof(Header, checksum) == 252);
static_assert(offsetof(Header, segments) == offsetof(Header, version) + 4);

// What one growth added to the pool: the bytes from `begin` to `end`, which hold a summary, a block
// table and blocks of their own. They stand behind the header, in its page.
struct Extension {
  Offset begin;  // where the pool ended before
  Offset end;
  std::uint64_t reserved;  // zero
  std::uint32_t number;    // 1, 2, ...
  std::uint32_t checksum;  // crc32c of the bytes before it
};
static_assert(sizeof(Extension) == 32 && std::has_unique_object_representations_v<Extension>);
inline constexpr std::size_t most_extensions = (page_bytes - sizeof(Header)) / sizeof(Extension);

constexpr Offset extension_place(std::size_t index) {
  return sizeof(Header) + index * sizeof(Extension);
}

// A named root: a word that a program finds again by its name.
struct Root {
  std::uint64_t in_use;  // 0; or 1, with a checksum of index, value and name in bits 32-63
  std::uint64_t value;
  std::array<char, 48> name;  // padded with zeros
};
static_assert(sizeof(Root) == 64 && std::has_unique_object_representations_v<Root>);

// What of the log counts: records of another epoch are dead; those up to `retired` are in place.
// Both have 48 bits, and a check above them. `total` is the sum over all chunks and roots, in a
// line of its own: records change it, and neither of the other two.
struct LogControl {
  std::uint64_t epoch;
  std::uint64_t retired;
  std::array<std::uint64_t, 6> reserved;  // zero
  std::uint64_t total;
  std::array<std::uint64_t, 7> reserved_tail;  // zero
};
static_assert(sizeof(LogControl) == 128 && offsetof(LogControl, total) == cache_line_bytes);

inline constexpr std::uint64_t log_slot_bytes = 1024;

// The head of a log record. `writes` Writes follow, then `seals` Seals.
struct RecordHead {
  std::uint64_t sequence;
  std::uint64_t epoch;
  std::uint32_t writes;
  std::uint32_t seals;
  std::uint32_t behind;    // records up to sequence - behind were persistent when it was written
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

// What the first block of a chunk says of it; the entries of its other blocks are zero. Version 1
// had the numbers 1 and 2, so that every entry tells by itself of which version it is.
enum class ChunkKind : std::uint8_t {
  none = 0,
  slots = 3,  // objects of one size class; `detail` has a bit for each object that lives
  run = 4,    // one object; `detail` is its size in bytes
};

struct BlockEntry {
  // kind in bits 0-2, size class in 3-7, account in 8-15, blocks of the chunk in 16-31; above them
  // a checksum of block number, bits 0-31 and detail
  std::uint64_t head;
  std::uint64_t detail;
};
static_assert(sizeof(BlockEntry) == 16);

struct ChunkHead {
  ChunkKind kind = ChunkKind::none;
  std::uint8_t size_class = 0;
  std::uint16_t blocks = 0;
  Account account = Account::none;

  // The low half of the entry's head.
  constexpr std::uint32_t low() const {
    return static_cast<std::uint32_t>(kind) | std::uint32_t{size_class} << 3 |
           static_cast<std::uint32_t>(account) << 8 | std::uint32_t{blocks} << 16;
  }
  static constexpr ChunkHead from(std::uint64_t word) {
    return ChunkHead{static_cast<ChunkKind>(word & 7), static_cast<std::uint8_t>(word >> 3 & 31),
                     static_cast<std::uint16_t>(word >> 16),
                     static_cast<Account>(word >> 8 & 0xff)};
  }
};

// Where everything lies in a pool of that size. The size must be within the bounds above; it is
// rounded down to whole blocks.
Header plan(std::uint64_t size_bytes, const Uuid& uuid);

// How blocks and their table share the space from a summary to an end.
struct BlockPlan {
  Offset table = 0;
  Offset blocks = 0;
  std::uint64_t block_count = 0;
};
BlockPlan plan_blocks(Offset summary, Offset end);

// With version and segments taken as 1, whatever they are: so one word brings a pool from version 1
// to 2, or makes it larger.
std::uint32_t checksum_of(const Header& header);
std::uint32_t checksum_of(const Extension& extension);

// The word `segments` of a pool with so many extensions, and what such a word says; nothing where
// it is damaged, or cannot be in a pool of that version.
std::uint32_t segments_word(std::size_t extensions);
std::optional<std::size_t> extensions_of(const Header& header);

// Whether these first bytes of a file are a header that this program can serve, for a file of
// `file_bytes`. `path` is for the message. Of a pool that was grown this is the first piece alone.
Status verify(const Header& header, std::uint64_t file_bytes, std::string_view path);

}  // namespace pool_format
}  // namespace remora
