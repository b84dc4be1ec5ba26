// The superblock of a store: the object that the root "store" leads to. docs/formats/store.md is
// its document.
//
//   head (64 B) | first live pool, next number, total, settled, cleared, zeros (64 B) | slots
//
// All words behind the head change by transactions of the pool alone, and so does the version, when
// a store of an older version is opened.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/crc32c.h"
#include "kv/log/object_format.h"
#include "pmem/pool_format.h"
#include "pmem/size_classes.h"

namespace remora::kv::store_format {

inline constexpr std::string_view root_name = "store";
inline constexpr std::array<char, 8> magic = {'R', 'E', 'M', 'O', 'R', 'A', 'S', 'T'};
inline constexpr std::uint32_t version = 4;
inline constexpr std::uint32_t oldest_version = 2;  // that is brought up to date
inline constexpr std::uint32_t oldest_marked = 3;   // with marks and a total
inline constexpr std::uint32_t oldest_settled = 4;  // with `settled`

struct Head {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t slot_count;
  std::array<char, 32> engine;  // padded with zeros
  std::uint64_t segment_bytes;  // of an ordinary segment
  std::uint32_t reserved;       // zero
  std::uint32_t checksum;       // crc32c of the bytes before it, with the version taken as 2
};
static_assert(sizeof(Head) == 64 && std::has_unique_object_representations_v<Head>);
static_assert(offsetof(Head, version) == 8 && offsetof(Head, slot_count) == 12);
static_assert(offsetof(Head, engine) == 16 && offsetof(Head, checksum) == 60);

struct Marks {
  std::uint64_t first_live;  // segments of data pools below this one are dead
  SegmentNumber next_number;
  std::uint64_t total;  // what sum_of marks and slots add up to
  // Every version with a sequence number up to this one was persistent, header and key, and of a
  // write of several keys the values too. Behind it recovery believes no more than what has nothing
  // missing before it (kept_prefix.h).
  std::uint64_t settled;
  // Versions with a sequence number up to this one are gone, whatever they are.
  std::uint64_t cleared;
  std::array<std::uint64_t, 3> reserved;  // zero
};
static_assert(sizeof(Marks) == 64);
static_assert(offsetof(Marks, settled) == 24 && offsetof(Marks, cleared) == 32);

// A segment; free when the number is 0, and then the rest has no meaning.
struct Slot {
  SegmentNumber number;
  Offset offset;
  std::uint64_t data_pool;  // 1, 2, ...: which data pool it belongs to
  // The segment's mark: every object in its first `end` bytes has its header and its key on the
  // medium, and is decided. What fails before it is damage.
  std::uint64_t end;
};
static_assert(sizeof(Slot) == 32);

// What marks and slots add up to: one word that knows of a slot which is missing, or is what it was
// some time ago.
constexpr std::uint64_t sum_of(std::uint64_t index, const Slot& slot) {
  return slot.number == 0
             ? 0
             : mix(mix(mix(mix(mix(index + 1) ^ slot.number) ^ slot.offset) ^ slot.data_pool) ^
                   slot.end);
}
constexpr std::uint64_t sum_of(const Marks& marks) {
  const std::uint64_t history =
      (marks.settled | marks.cleared) == 0 ? 0 : mix(mix(marks.settled + 1) ^ marks.cleared);
  return mix(mix(marks.first_live) ^ marks.next_number) + history;
}

inline constexpr std::uint64_t marks_begin = sizeof(Head);
inline constexpr std::uint64_t slots_begin = marks_begin + sizeof(Marks);

constexpr std::uint64_t superblock_bytes(std::uint64_t slot_count) {
  return slots_begin + slot_count * sizeof(Slot);
}
// The segments that a pool of that size can hold, as far as one object has room for their slots.
constexpr std::uint64_t most_slots(std::uint64_t pool_bytes, std::uint64_t segment_bytes) {
  return std::min(pool_bytes / segment_bytes, (largest_object_bytes - slots_begin) / sizeof(Slot));
}
// Bringing a store up to date changes the version, and nothing else of the head.
inline std::uint32_t checksum_of(Head head) {
  head.version = oldest_version;
  return crc32c(object_bytes(head).first(offsetof(Head, checksum)));
}
constexpr Offset slot_place(Offset superblock, std::uint64_t index) {
  return superblock + slots_begin + index * sizeof(Slot);
}

// Recovery begins that far above the number that it found. A segment may have been filled although
// the cut took the record that opened it: its number must not come again. There are fewer of those
// than the pool's log has slots.
inline constexpr SegmentNumber numbers_skipped = SegmentNumber{1} << 16;

}  // namespace remora::kv::store_format
