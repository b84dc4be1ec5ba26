// Reading a record of the redo log in its slot, for those who write it and those who replay it.
#pragma once

#include <atomic>
#include <cstring>

#include "base/crc32c.h"
#include "pmem/pool_format.h"

namespace remora::log_record {

using pool_format::RecordHead;
using pool_format::Seal;
using pool_format::Write;

// One 8-byte store that no power cut can tear.
inline void store_word(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

inline RecordHead head_of(const std::byte* slot) {
  RecordHead head;
  std::memcpy(&head, slot, sizeof head);
  return head;
}

// Whether the record stays within its slot; check before anything below.
inline bool entries_fit(const RecordHead& head) {
  return head.writes <= pool_format::record_entries &&
         head.seals <= pool_format::record_entries - head.writes;
}

inline std::size_t record_bytes(const RecordHead& head) {
  return sizeof head + (std::size_t{head.writes} + head.seals) * sizeof(Write);
}

inline Write write_at(const std::byte* slot, std::size_t index) {
  Write write;
  std::memcpy(&write, slot + sizeof(RecordHead) + index * sizeof write, sizeof write);
  return write;
}

inline Seal seal_at(const std::byte* slot, const RecordHead& head, std::size_t index) {
  Seal seal;
  std::memcpy(&seal, slot + sizeof head + (head.writes + index) * sizeof seal, sizeof seal);
  return seal;
}

inline std::uint32_t checksum_of(const std::byte* slot, const RecordHead& head) {
  const std::uint32_t front = crc32c(ConstBytes(slot, offsetof(RecordHead, checksum)));
  return crc32c(ConstBytes(slot + sizeof head, record_bytes(head) - sizeof head), front);
}

}  // namespace remora::log_record
