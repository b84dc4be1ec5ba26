// Survey: what a store in a pool holds, and what of it is damaged, found out by looking at every
// byte that has a checksum. Nothing is believed and nothing changed: it works on pools that are
// refused too, for a check of a store and for saving what is whole.
//
// The bytes are a view of the whole pool that the caller has for itself, with the pool's log
// replayed as far as that can be. Any thread; costs a pass over all that lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "kv/log/object_format.h"
#include "kv/log/store_format.h"
#include "pmem/pool.h"

namespace remora::kv {

struct Finding {
  enum class What : std::uint8_t {
    superblock,  // which segments there are is not known, or not for sure
    header,      // objects that cannot be read: any key may have lost its newest version there
    value,       // the newest version of a key is not what was put
  };
  What what = What::value;
  Offset place = 0;
  std::uint64_t size_bytes = 0;
  std::string key;   // of a value
  std::string text;  // what is wrong, for people
};

struct Survey {
  bool has_store = false;
  std::string engine;
  // Segments were found by their objects alone: deletions may be missing, and deleted keys be back.
  bool by_objects_alone = false;
  // Values of this engine carry no checksum that tells what was put.
  bool unverified = false;
  std::uint64_t segments = 0;
  std::uint64_t versions = 0;      // all that were found, tombstones too
  std::uint64_t behind_marks = 0;  // of them: what a power cut may take
  std::uint64_t keys = 0;          // whose newest version is a value, whole or not
  std::uint64_t damaged_keys = 0;
  std::vector<Finding> findings;  // of the superblock first, then by place, then by key
  std::vector<Offset> whole;      // the newest versions of keys, in no order; no tombstones
};

// `pool` is null where it was refused: then roots and superblock are looked for in the bytes.
Survey survey_store(Bytes view, Pool* pool);

}  // namespace remora::kv
