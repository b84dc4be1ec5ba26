// Where in the source a request was posted: of a FLUSH, SFLUSH or ATOMIC WRITE, whose `compare`
// means nothing else. A persist call of a Region has its Site beside it (pmem/region.h); this is
// the same for one that travels, so that the crash world can count it, and mute it.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "fabric/opcodes.h"
#include "fabric/work.h"
#include "pmem/region.h"

namespace remora::fabric {

static_assert(sizeof(Site) == sizeof(SendWork::compare));

// Requests that can have one.
constexpr bool may_have_site(Opcode opcode) {
  return is_flush(opcode) || opcode == Opcode::sflush || opcode == Opcode::atomic_write;
}

// For SendWork::compare.
inline std::uint64_t posted_at(const Site& site) {
  return std::bit_cast<std::uint64_t>(site);
}
// Nothing where the request does not say.
inline std::optional<Site> site_of(const SendWork& work) {
  if (!may_have_site(work.opcode) || work.compare == 0) {
    return std::nullopt;
  }
  return std::bit_cast<Site>(work.compare);
}

}  // namespace remora::fabric
