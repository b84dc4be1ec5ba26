// What Erda keeps in an entry of its hopscotch table (kv/common/hopscotch_format.h), which the root
// "erda-table" leads to, and the header of an object, which the client writes. Little-endian.
//
// The words of an entry: the 8-byte region; the sizes of versions A and B in units of 64 B, 32 bits
// each, which are a hint; zero. The region is stored and persisted as one word:
//
//   bits 0-30 offset of version A / 64 | 31-61 offset of version B / 64 | 62 zero | 63 tag
//
// The tag says which is newer: 0 A, 1 B. Offset 0: no such version.
//
// An offset leads to what the log has of the version: its own header and the key, which stand for
// the key in the paper's hash entry; and behind them, where other engines have the value, what the
// client wrote with one WRITE: ObjectHead | value.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "kv/common/hopscotch_format.h"
#include "kv/log/object_format.h"

namespace remora::kv::erda {

inline constexpr std::size_t region_word = 0;
inline constexpr std::size_t sizes_word = 1;

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

// The header of an object, as the client writes it before the value.
struct ObjectHead {
  std::uint64_t sequence;  // that the space was granted with
  std::uint32_t checksum;  // object_format::object_checksum of sequence, lengths, key and value
  std::uint32_t reserved;  // zero
};
static_assert(sizeof(ObjectHead) == 16 && std::has_unique_object_representations_v<ObjectHead>);

inline ObjectHead head_of(ConstBytes key, ConstBytes value, std::uint64_t sequence) {
  return {sequence,
          object_format::object_checksum(sequence, object_format::client_checksum(key, value)), 0};
}

// The value in what a client wrote, if it is whole: of this version of this key. Costs a pass over
// the value; callers charge for it. `checks`: else the header is believed.
inline std::optional<ConstBytes> value_in(ConstBytes written, ConstBytes key,
                                          std::uint64_t sequence, bool checks = true) {
  ObjectHead head;
  if (written.size() < sizeof head) {
    return std::nullopt;
  }
  std::memcpy(&head, written.data(), sizeof head);
  const ConstBytes value = written.subspan(sizeof head);
  if (checks &&
      std::memcmp(&head, object_bytes(head_of(key, value, sequence)).data(), sizeof head) != 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace remora::kv::erda
