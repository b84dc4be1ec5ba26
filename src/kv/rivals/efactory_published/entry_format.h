// The hash entry of eFactory as published: an entry of a hopscotch table
// (kv/common/hopscotch_format.h), which the root "published-table" leads to. Its words are two
// places (kv/index/place.h; the flags of a place stay zero), one for each data pool, and the mark
// bit: which of them is that of the current data pool.
#pragma once

#include "kv/common/hopscotch_format.h"
#include "kv/index/place.h"
#include "kv/rivals/efactory_published/faults.h"

namespace remora::kv::efactory_published {

inline constexpr HopscotchKind table_kind = {
    "published-table", {'R', 'E', 'M', 'O', 'R', 'A', 'E', 'P'}, 1, faults::entry_not_persisted};

inline constexpr std::size_t mark_word = 2;

inline std::size_t mark_of(const EntryWords& words) {
  return words[mark_word] & 1;
}

}  // namespace remora::kv::efactory_published
