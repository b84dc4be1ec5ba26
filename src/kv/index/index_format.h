// The hash table as peers READ it: windows of 8 entries, 256 bytes each, and behind them a few
// spill windows for keys that found theirs full. One READ tells whether a key is in its window; of
// a full window, a second one tells whether it has spilled. All words are written by the server
// alone, each with one atomic store; words of one entry that are READ together need not belong
// together.
//
// What a reader may conclude:
//  - An entry with the key's tag and a place: the key, if the object there says so (READ it and
//    compare). An object with another key, or none, means that the entry changed meanwhile, or that
//    two keys share a tag.
//  - No such entry in a full window: the key may have spilled (READ there).
//  - None there either, or in a window with free entries: the key may yet be in the store, if it
//    changes just now, if its spill window was full too, or if its own has room again since. Who
//    must know asks the server.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "base/hash.h"
#include "kv/index/place.h"

namespace remora::kv {

// The hash of a key; never 0.
using Tag = std::uint64_t;

struct IndexEntry {
  Tag tag;                             // 0: the entry is free
  std::array<std::uint64_t, 2> place;  // Place, one for each data pool
  std::uint64_t mark;                  // 0 or 1: which place is that of the current data pool
};
static_assert(sizeof(IndexEntry) == 32 && std::has_unique_object_representations_v<IndexEntry>);

inline constexpr std::size_t window_entries = 8;
inline constexpr std::size_t window_bytes = window_entries * sizeof(IndexEntry);
static_assert(window_bytes == 256);

// All that a peer must know to find the window of a key.
struct IndexGeometry {
  static constexpr std::uint64_t windows_mask = (std::uint64_t{1} << 48) - 1;

  constexpr IndexGeometry() = default;
  constexpr IndexGeometry(std::uint64_t of_seed, std::uint64_t of_windows,
                          std::uint64_t of_tag_bits = 0)
      : seed(of_seed), windows(of_windows & windows_mask), tag_bits(of_tag_bits & 0xff) {}

  std::uint64_t seed = 0;  // of the hash; random for each life, so that nobody plants collisions
  std::uint64_t windows : 48 = 4;  // a power of two, at least 4
  // How many bits of the hash tell keys apart; 0: all. Fewer is for tests, whose keys then share
  // tags.
  std::uint64_t tag_bits : 16 = 0;

  bool operator==(const IndexGeometry&) const = default;
  // For geometry that a peer told.
  bool plausible() const {
    const std::uint64_t count = windows;
    return std::has_single_bit(count) && count >= 4 && count <= std::uint64_t{1} << 40 &&
           tag_bits < 64;
  }
  Tag tag(ConstBytes key) const {
    const std::uint64_t hash = hash64(key, seed);
    if (tag_bits != 0) [[unlikely]] {
      return hash >> (64 - tag_bits) << (64 - tag_bits) | 1;
    }
    return hash == 0 ? 1 : hash;
  }
  // One for 32 windows: many times what overflows of a table that is not crowded.
  std::uint64_t spill_windows() const { return std::max<std::uint64_t>(1, windows / 32); }
  // By the high bits: windows in order are tags in order, whatever the size of the table.
  std::uint64_t window(Tag tag) const {
    return tag >> (64 - std::countr_zero(std::uint64_t{windows}));
  }
  // Where the window begins, in bytes from the start of the table.
  std::uint64_t window_offset(Tag tag) const { return window(tag) * window_bytes; }
  // Where a key goes that finds its window full. By the low bits: keys of one window part.
  std::uint64_t spill_offset(Tag tag) const {
    return (windows + (tag & (spill_windows() - 1))) * window_bytes;
  }
  std::uint64_t table_bytes() const { return (windows + spill_windows()) * window_bytes; }
};

// With so many keys to a window, on the average, one key in 600 finds its window full, and every
// get of it costs one READ more; with one more it is one in 120.
inline constexpr std::uint64_t keys_per_window = 3;

// The smallest table that holds so many keys.
constexpr std::uint64_t windows_for(std::uint64_t keys) {
  return std::bit_ceil(std::max<std::uint64_t>(4, keys / keys_per_window + 1));
}

}  // namespace remora::kv
