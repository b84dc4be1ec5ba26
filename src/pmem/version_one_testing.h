// Pools as version 1 wrote them, for tests of how they are brought up to date: an image of a pool
// of this version, whatever a power cut left of it, becomes the image of version 1 in the same
// state.
#pragma once

#include <cstring>
#include <vector>

#include "base/check.h"
#include "pmem/log_record.h"
#include "pmem/pool_checks.h"

namespace remora {

namespace version_one_image {

using pool_format::BlockEntry;
using pool_format::Header;
using pool_format::RecordHead;
using pool_format::Root;
using pool_format::Write;

// An entry's head, or what a cut left there.
inline std::uint64_t older_head(std::uint64_t word) {
  const pool_format::ChunkHead head = pool_format::ChunkHead::from(word);
  const bool is_chunk =
      head.kind == pool_format::ChunkKind::slots || head.kind == pool_format::ChunkKind::run;
  return is_chunk ? pool_format::version_one::head_word(head) : word;
}

// The value that version 1 has for that place.
inline std::uint64_t older_value(const Header& header, Offset place, std::uint64_t value) {
  if (place >= header.table && place < header.blocks &&
      (place - header.table) % sizeof(BlockEntry) == 0) {
    return older_head(value);
  }
  const bool in_use = place >= header.roots && place < header.log_control &&
                      (place - header.roots) % sizeof(Root) == 0;
  return in_use ? value & 0xffffffff : value;
}

inline void convert_word(const Header& header, Bytes pool, Offset place) {
  store(pool.data() + place, older_value(header, place, load<std::uint64_t>(pool.data() + place)));
}

// One that is whole; what a cut tore stays as it is, and counts in no version.
inline void convert_record(const Header& header, std::byte* slot) {
  RecordHead head = log_record::head_of(slot);
  if (!log_record::entries_fit(head) || log_record::checksum_of(slot, head) != head.checksum) {
    return;
  }
  std::vector<Write> entries;
  for (std::uint32_t i = 0; i < head.writes + head.seals; ++i) {
    Write write = log_record::write_at(slot, i);
    if (i < head.writes && write.place == pool_format::total_place(header)) {
      continue;
    }
    write.value = i < head.writes ? older_value(header, write.place, write.value) : write.value;
    entries.push_back(write);
  }
  head.writes = static_cast<std::uint32_t>(entries.size()) - head.seals;
  head.behind = 0;
  std::memcpy(slot, &head, sizeof head);
  copy_bytes(slot + sizeof head, std::as_bytes(std::span(entries)));
  store(slot + offsetof(RecordHead, checksum), log_record::checksum_of(slot, head));
}

}  // namespace version_one_image

// Requires a pool of this version.
inline void make_version_one(Bytes pool) {
  using namespace version_one_image;
  Header header;
  std::memcpy(&header, pool.data(), sizeof header);
  REMORA_CHECK(header.version == pool_format::version, "not a pool of this version");
  store(pool.data() + offsetof(Header, version), pool_format::oldest_version);
  for (std::uint64_t i = 0; i < header.root_count; ++i) {
    convert_word(header, pool, header.roots + i * sizeof(Root));
  }
  for (std::uint64_t i = 0; i < header.block_count; ++i) {
    convert_word(header, pool, header.table + i * sizeof(BlockEntry));
  }
  for (const Offset place : {header.log_control, header.log_control + word_bytes}) {
    const auto word = load<std::uint64_t>(pool.data() + place);
    store(pool.data() + place, word & (pool_format::control_limit - 1));
  }
  store(pool.data() + pool_format::total_place(header), std::uint64_t{0});
  for (std::uint64_t i = 0; i < header.log_slot_count; ++i) {
    convert_record(header, pool.data() + header.log_slots + i * pool_format::log_slot_bytes);
  }
}

}  // namespace remora
