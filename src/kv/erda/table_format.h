// The hash table of Erda as it lies in persistent memory and as a peer READs it: one object of the
// pool, which the root "erda-table" leads to. Little-endian.
//
//   head (64 B) | buckets + 7 buckets (32 B each)
//
// A key's home bucket is given by the high bits of its hash; its entry is there or in one of the 7
// buckets behind, the neighbourhood, which one READ of 256 bytes covers. There is no wrapping
// around: the last homes have buckets behind them that are nobody's home.
//
// The 8-byte region of a bucket, which is stored and persisted as one word:
//
//   bits 0-30 offset of version A / 64 | 31-61 offset of version B / 64 | 62 zero | 63 tag
//
// The tag says which is newer: 0 A, 1 B. Offset 0: no such version.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "kv/index/index_format.h"
#include "kv/log/object_format.h"
#include "pmem/pool_format.h"

namespace remora::kv::erda {

inline constexpr std::string_view root_name = "erda-table";
inline constexpr std::array<char, 8> table_magic = {'R', 'E', 'M', 'O', 'R', 'A', 'E', 'H'};

struct TableHead {
  std::array<char, 8> magic;
  std::uint32_t version;   // 1
  std::uint32_t checksum;  // crc32c of magic, version, seed and buckets
  std::uint64_t seed;      // of the hash
  std::uint64_t buckets;   // that are homes; a power of two
  Offset previous;         // the smaller table that this one replaced, until it is freed; else 0
  std::array<std::uint64_t, 3> reserved;  // zero
};
static_assert(sizeof(TableHead) == 64 && std::has_unique_object_representations_v<TableHead>);

struct Bucket {
  Tag tag;                 // the key's hash; 0: free
  std::uint64_t versions;  // the 8-byte region
  std::uint64_t sizes;     // of versions A and B, in units of 64 B, 32 bits each: a hint
  std::uint64_t reserved;  // zero
};
static_assert(sizeof(Bucket) == 32 && std::has_unique_object_representations_v<Bucket>);

inline constexpr std::size_t neighbourhood = 8;
inline constexpr std::size_t neighbourhood_bytes = neighbourhood * sizeof(Bucket);

constexpr std::uint64_t table_bytes(std::uint64_t buckets) {
  return sizeof(TableHead) + (buckets + neighbourhood - 1) * sizeof(Bucket);
}
constexpr std::uint64_t home_of(Tag tag, std::uint64_t buckets) {
  return tag >> (64 - std::countr_zero(buckets));
}

inline std::uint32_t checksum_of(const TableHead& head) {
  const std::uint32_t names = crc32c(object_bytes(head).first(offsetof(TableHead, checksum)));
  return crc32c(object_bytes(head.buckets), crc32c(object_bytes(head.seed), names));
}

// The 8-byte region.
inline constexpr unsigned offset_bits = 31;
inline constexpr std::uint64_t offset_mask = (std::uint64_t{1} << offset_bits) - 1;
inline constexpr unsigned tag_bit = 63;
inline constexpr std::uint64_t largest_pool_bytes = object_format::alignment_bytes << offset_bits;

struct Versions {
  Offset newest = 0;
  Offset previous = 0;
};

// Which of the two offsets is the newest: 0 or 1.
constexpr unsigned newest_of(std::uint64_t word) {
  return static_cast<unsigned>(word >> tag_bit);
}
constexpr Offset offset_in(std::uint64_t word, unsigned which) {
  return (word >> (which * offset_bits) & offset_mask) * object_format::alignment_bytes;
}
constexpr Versions decode_versions(std::uint64_t word) {
  return {offset_in(word, newest_of(word)), offset_in(word, 1 - newest_of(word))};
}
// The word with this offset at that place, which is then the newest.
constexpr std::uint64_t with_newest(std::uint64_t word, unsigned which, Offset offset) {
  const std::uint64_t others = word & (offset_mask << ((1 - which) * offset_bits));
  return others | offset / object_format::alignment_bytes << (which * offset_bits) |
         std::uint64_t{which} << tag_bit;
}
// The word after a put: the newest becomes the previous one, and what was that is forgotten.
constexpr std::uint64_t advance(std::uint64_t word, Offset offset) {
  return with_newest(word, 1 - newest_of(word), offset);
}

constexpr std::uint64_t size_hint(std::uint64_t sizes, unsigned which) {
  return (sizes >> (which * 32) & UINT32_MAX) * object_format::alignment_bytes;
}
constexpr std::uint64_t with_size(std::uint64_t sizes, unsigned which, std::uint64_t size_bytes) {
  const std::uint64_t others = sizes & (std::uint64_t{UINT32_MAX} << ((1 - which) * 32));
  return others | size_bytes / object_format::alignment_bytes << (which * 32);
}

}  // namespace remora::kv::erda
