// The layout of an object of the store, as it lies in a segment of the log and as a peer READs it.
// docs/formats/store.md is its document; this header and that text say the same. Little-endian;
// offsets from the start of the pool, never pointers.
//
//   header (64 B) | key | zeros to a word | value | anything, to a multiple of 64 B
//
// The value shares no word with header or key: a peer that WRITEs it can tear neither.
//
// Words that change while the object lives (previous, next, state) are outside of every checksum.
// Each carries a mark of the segment that it was written for: after a cut the word may be what an
// earlier object left at this place, and then it says nothing.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/random.h"
#include "kv/limits.h"
#include "pmem/pool_format.h"

namespace remora::kv {

// Segments are numbered from 1 as they are opened; a number never comes back.
using SegmentNumber = std::uint64_t;

enum class Kind : std::uint8_t {
  value = 1,
  tombstone = 2,  // the key is deleted; there is no value
};

// Several versions that are written together have sequence numbers that follow each other, and all
// but the last of them say so: the version with the next number belongs to the same write.

namespace object_format {

inline constexpr std::uint8_t magic = 0xb7;
inline constexpr std::uint8_t more_bit = 0x10;  // of the kind
inline constexpr std::uint64_t alignment_bytes = 64;
inline constexpr unsigned place_bits = 40;  // of an offset in units of 64 B: pools up to 64 TiB
inline constexpr SegmentNumber number_limit = SegmentNumber{1} << 47;

struct Header {
  std::uint32_t value_bytes;
  std::uint16_t key_bytes;
  std::uint8_t kind;  // Kind, and more_bit
  std::uint8_t magic;
  std::uint64_t sequence;
  SegmentNumber segment;          // that it was appended to
  std::uint32_t checksum;         // object_checksum: of lengths, key, value, sequence, expiry
  std::uint32_t header_checksum;  // of the 28 bytes before it, of `expires` and of the key
  std::uint64_t previous;         // Link to the version before; changes
  std::uint64_t next;             // Link to the version after; changes
  std::uint64_t state;            // a code in bits 0-15, `segment` in bits 16-63; changes
  std::uint64_t expires;          // milliseconds since 1970 from when on it is none; 0: never
};
static_assert(sizeof(Header) == 64 && std::has_unique_object_representations_v<Header>);
static_assert(offsetof(Header, sequence) == 8 && offsetof(Header, segment) == 16);
static_assert(offsetof(Header, checksum) == 24 && offsetof(Header, header_checksum) == 28);
static_assert(offsetof(Header, previous) == 32 && offsetof(Header, next) == 40);
static_assert(offsetof(Header, state) == 48 && offsetof(Header, expires) == 56);
static_assert(pool_format::largest_pool_bytes / alignment_bytes <= std::uint64_t{1} << place_bits);

constexpr Kind kind_of(const Header& header) {
  return static_cast<Kind>(header.kind & ~unsigned{more_bit});
}
constexpr bool more_of(const Header& header) {
  return (header.kind & more_bit) != 0;
}
// Where the value begins, from the start of the object.
constexpr std::uint64_t value_begin(std::uint64_t key_bytes) {
  return sizeof(Header) + round_up(key_bytes, std::uint64_t{word_bytes});
}
// The space that an object takes.
constexpr std::uint64_t size_bytes(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  return round_up(value_begin(key_bytes) + value_bytes, alignment_bytes);
}
// What a log takes as a value: a client's, and a header that an engine puts before it.
inline constexpr std::uint64_t most_value_bytes = limits::value_bytes + 64;
inline constexpr std::uint64_t largest_bytes = size_bytes(limits::key_bytes, most_value_bytes);

// What the client computes and the server is told: it holds for any sequence number.
inline std::uint32_t client_checksum(ConstBytes key, ConstBytes value) {
  const std::array<std::uint32_t, 2> sizes = {static_cast<std::uint32_t>(key.size()),
                                              static_cast<std::uint32_t>(value.size())};
  return crc32c(value, crc32c(key, crc32c(std::as_bytes(std::span(sizes)))));
}
// What the header holds.
inline std::uint32_t object_checksum(std::uint64_t sequence, std::uint32_t client_sum,
                                     std::uint64_t expires = 0) {
  const std::array<std::uint64_t, 2> words = {sequence, expires};
  return crc32c(object_bytes(client_sum), crc32c(std::as_bytes(std::span(words))));
}

inline std::uint32_t header_checksum(const Header& header, ConstBytes key) {
  const std::uint32_t fixed = crc32c(object_bytes(header).first(offsetof(Header, header_checksum)));
  return crc32c(key, crc32c(object_bytes(header.expires), fixed));
}

// Whether these lengths and this kind can be those of an object in `room` bytes. Says nothing of
// whether they are the ones that were written: the checksum does.
constexpr bool plausible(const Header& header, std::uint64_t room) {
  const Kind kind = kind_of(header);
  const bool known = kind == Kind::value || (kind == Kind::tombstone && header.value_bytes == 0);
  return header.magic == magic && known && header.key_bytes >= 1 &&
         header.key_bytes <= limits::key_bytes && header.value_bytes <= most_value_bytes &&
         size_bytes(header.key_bytes, header.value_bytes) <= room;
}

// Flags of the state word.
inline constexpr std::uint64_t durable_flag = 1;  // key, value and header are persistent
inline constexpr std::uint64_t invalid_flag = 2;  // the value never came; not a version
inline constexpr unsigned state_code_bits = 16;
// What stands for the flags, by their value. No byte, and no seven bits, make one of another: a
// word that is damaged says nothing, and the checksum of the object decides.
inline constexpr std::array<std::uint16_t, 4> state_codes = {0x0000, 0x5a5a, 0xa7a7, 0xfdfd};
static_assert([] {
  for (const std::uint16_t a : state_codes) {
    for (const std::uint16_t b : state_codes) {
      if (a != b && std::popcount(static_cast<std::uint16_t>(a ^ b)) < 8) {
        return false;
      }
    }
  }
  return true;
}());

constexpr std::uint64_t state_word(SegmentNumber segment, std::uint64_t flags) {
  return segment << state_code_bits | state_codes[flags];
}
// The flags, or none when the word was written for another segment, or is none that was written.
constexpr std::uint64_t flags_of(std::uint64_t state, SegmentNumber segment) {
  if (state >> state_code_bits != segment) {
    return 0;
  }
  const std::uint64_t code = state & 0xffff;
  return code == state_codes[durable_flag]                  ? durable_flag
         : code == state_codes[invalid_flag]                ? invalid_flag
         : code == state_codes[durable_flag | invalid_flag] ? durable_flag | invalid_flag
                                                            : 0;
}
// The word that says the same as one of version 2, which had the flags in bits 0-1 and the segment
// behind them; any other word as it is.
constexpr std::uint64_t upgraded_state(std::uint64_t state, SegmentNumber segment) {
  return state >> 2 == segment ? state_word(segment, state & 3) : state;
}

}  // namespace object_format

// What `previous` and `next` hold: a place in the log, and whether the cleaner has moved what was
// there. Offset 0: nothing.
struct Link {
  Offset offset = 0;
  bool transferred = false;

  bool operator==(const Link&) const = default;
};

namespace object_format {

// Bits 0-39: offset / 64; bit 40: transferred; bits 41-63: of the segment of the object that holds
// the word.
constexpr std::uint64_t link_mark(SegmentNumber segment) {
  return mix(segment) >> (place_bits + 1) << (place_bits + 1);
}
constexpr std::uint64_t link_word(Link link, SegmentNumber segment) {
  return link.offset / alignment_bytes | std::uint64_t{link.transferred} << place_bits |
         link_mark(segment);
}
// The link, or none when the word was written for another segment.
constexpr Link link_of(std::uint64_t word, SegmentNumber segment) {
  constexpr std::uint64_t low = (std::uint64_t{1} << (place_bits + 1)) - 1;
  if ((word & ~low) != link_mark(segment)) {
    return Link{};
  }
  return Link{(word & (low >> 1)) * alignment_bytes, (word >> place_bits & 1) != 0};
}

}  // namespace object_format
}  // namespace remora::kv
