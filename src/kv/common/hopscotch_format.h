// A hopscotch hash table as it lies in persistent memory and as a peer READs it: one object of the
// pool, which a root leads to. Little-endian.
//
//   head (64 B) | buckets + 7 buckets (32 B each)
//
// A key's home bucket is given by the high bits of its hash; its entry is there or in one of the 7
// buckets behind, the neighbourhood, which one READ of 256 bytes covers. There is no wrapping
// around: the last homes have buckets behind them that are nobody's home.
//
// What the three words of an entry mean is the engine's affair.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/faults.h"
#include "kv/index/index_format.h"
#include "pmem/pool_format.h"

namespace remora::kv {

// Whose table it is.
struct HopscotchKind {
  std::string_view root;
  std::array<char, 8> magic;
  std::uint32_t version;             // of what entries lead to
  const Fault& entry_not_persisted;  // an engine's planted mistake: entries are never flushed
};

struct HopscotchHead {
  std::array<char, 8> magic;
  std::uint32_t version;   // the kind's
  std::uint32_t checksum;  // crc32c of magic, version, seed and buckets
  std::uint64_t seed;      // of the hash
  std::uint64_t buckets;   // that are homes; a power of two
  Offset previous;         // the smaller table that this one replaced, until it is freed; else 0
  std::array<std::uint64_t, 3> reserved;  // zero
};
static_assert(sizeof(HopscotchHead) == 64 &&
              std::has_unique_object_representations_v<HopscotchHead>);

using EntryWords = std::array<std::uint64_t, 3>;

struct Bucket {
  Tag tag;  // the key's hash; 0: free
  EntryWords words;
};
static_assert(sizeof(Bucket) == 32 && std::has_unique_object_representations_v<Bucket>);

inline constexpr std::size_t neighbourhood = 8;
inline constexpr std::size_t neighbourhood_bytes = neighbourhood * sizeof(Bucket);

constexpr std::uint64_t hopscotch_bytes(std::uint64_t buckets) {
  return sizeof(HopscotchHead) + (buckets + neighbourhood - 1) * sizeof(Bucket);
}
constexpr std::uint64_t home_of(Tag tag, std::uint64_t buckets) {
  return tag >> (64 - std::countr_zero(buckets));
}

inline std::uint32_t checksum_of(const HopscotchHead& head) {
  const std::uint32_t names = crc32c(object_bytes(head).first(offsetof(HopscotchHead, checksum)));
  return crc32c(object_bytes(head.buckets), crc32c(object_bytes(head.seed), names));
}

}  // namespace remora::kv
