// Place: where an object lies, in one word that a peer READs and nobody can tear.
//
//   bits 0-39 offset / 64 | 40-59 size / 64 | 60 durable | 61 deleted | 62 expires | 63 zero
//
// 0 is no place at all: offset 0 is the header of the pool.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "kv/log/object_format.h"

namespace remora::kv {

struct Place {
  Offset offset = 0;             // in the pool; a multiple of 64
  std::uint64_t size_bytes = 0;  // of the whole object; a multiple of 64
  bool durable = false;          // the object has its durable flag
  bool deleted = false;          // the object is a tombstone
  bool expires = false;          // the object has a time from when on it is none

  bool operator==(const Place&) const = default;
};

namespace place_format {

inline constexpr std::uint64_t unit_bytes = object_format::alignment_bytes;
inline constexpr unsigned size_shift = object_format::place_bits;
inline constexpr unsigned size_bits = 20;
inline constexpr std::uint64_t durable_bit = std::uint64_t{1} << 60;
inline constexpr std::uint64_t deleted_bit = std::uint64_t{1} << 61;
inline constexpr std::uint64_t expires_bit = std::uint64_t{1} << 62;
inline constexpr std::uint64_t most_offset = unit_bytes * ((std::uint64_t{1} << size_shift) - 1);
inline constexpr std::uint64_t most_size = unit_bytes * ((std::uint64_t{1} << size_bits) - 1);
static_assert(object_format::largest_bytes <= most_size && size_shift + size_bits == 60);

}  // namespace place_format

// The word; it is a bug when the place does not fit.
constexpr std::uint64_t encode(const Place& place) {
  using namespace place_format;
  REMORA_CHECK(place.offset % unit_bytes == 0 && place.offset <= most_offset, "no such offset");
  REMORA_CHECK(place.size_bytes % unit_bytes == 0 && place.size_bytes <= most_size, "too large");
  return place.offset / unit_bytes | place.size_bytes / unit_bytes << size_shift |
         (place.durable ? durable_bit : 0) | (place.deleted ? deleted_bit : 0) |
         (place.expires ? expires_bit : 0);
}

// Takes any word. What it yields is checked with lies_within() where it comes from a peer.
constexpr Place decode(std::uint64_t word) {
  using namespace place_format;
  constexpr std::uint64_t offset_mask = (std::uint64_t{1} << size_shift) - 1;
  constexpr std::uint64_t size_mask = (std::uint64_t{1} << size_bits) - 1;
  return Place{(word & offset_mask) * unit_bytes, (word >> size_shift & size_mask) * unit_bytes,
               (word & durable_bit) != 0, (word & deleted_bit) != 0, (word & expires_bit) != 0};
}

// Whether an object could be there, in a pool of so many bytes.
constexpr bool lies_within(const Place& place, std::uint64_t pool_bytes) {
  return place.offset != 0 && place.size_bytes >= sizeof(object_format::Header) &&
         place.size_bytes <= object_format::largest_bytes &&
         within(place.offset, place.size_bytes, pool_bytes);
}

}  // namespace remora::kv
