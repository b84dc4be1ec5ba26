// Anatomy: which byte of a pool with a store belongs to which structure, and where the newest
// version of each key lies.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "pmem/pool_format.h"

namespace remora::corruption {

enum class Structure : std::uint8_t {
  pool_header,
  extensions,
  roots,
  log_control,
  redo_log,
  summary,
  block_table,
  store_head,
  store_marks,
  store_slots,
  object_header,
  state_word,
  links,
  keys,
  values,
  padding,       // behind a key and behind a value
  stale_object,  // superseded or deleted versions, all of their bytes
  segment_tail,  // behind the last object
  free_space,
  rival_index,  // what a rival keeps beside the log, if it does: Erda's table, Forca's records
};
inline constexpr std::size_t structure_count = 20;
std::string_view to_string(Structure structure);

struct Extent {
  Structure structure;
  Offset begin = 0;
  Offset end = 0;
};

struct Newest {
  Offset offset = 0;
  std::uint64_t sequence = 0;
  bool deleted = false;
  bool behind_mark = false;
};

struct Anatomy {
  std::vector<Extent> extents;
  std::map<std::string, Newest> newest;  // by key

  // The structures that damage is aimed at: all but the last, which is a rival's alone.
  std::size_t structures() const;
  // Whether damage can be aimed at it: a pool that was never grown has no extensions.
  bool has(Structure structure) const;
  // The structure of a byte; free space where nothing else is known.
  Structure at(Offset offset) const;
};

// Of a sound pool.
Anatomy dissect(ConstBytes image);

}  // namespace remora::corruption
