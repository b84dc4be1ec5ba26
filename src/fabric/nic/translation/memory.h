// Registered memory as the device sees it: which regions there are, who may reach what in them, and
// where it lies. A region lies where it was registered, in pages that a cache knows; one that has a
// Translation lies where that says, in several parts perhaps, or not at all at this moment.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "fabric/device.h"
#include "fabric/nic/limits.h"
#include "fabric/nic/translation/page_cache.h"
#include "fabric/nic/translation/parts.h"
#include "fabric/nic/translation/table.h"
#include "fabric/types.h"
#include "pmem/region.h"

namespace remora::fabric::nic {

using DomainId = std::uint32_t;

// What this side does with its own memory is no guard's business.
inline constexpr AccessFlags rights_of_peers = every_access & ~local_write;

struct RegisteredMemory {
  Bytes bytes;
  AccessFlags access = 0;
  DomainId domain = 0;
  Region* persistence = nullptr;
  std::uint32_t key = 0;               // local and remote
  Guard* guard = nullptr;              // or null: the rights hold for all bytes
  Translation* translation = nullptr;  // or null: it lies where it was registered
  bool asks = false;                   // one of these, or its WRITEs are flushed
};

// Who asks, with which key, for which place.
struct Reach {
  DomainId domain = 0;
  std::uint32_t key = 0;
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  AccessFlags rights = 0;              // all of them are needed
  const std::byte* payload = nullptr;  // see fabric::RemoteAccess
};

class Memory {
 public:
  explicit Memory(std::uint32_t cached_pages = limits::cached_pages) : pages_(cached_pages) {}

  // Gives the memory its key; false when there are too many regions.
  bool add(RegisteredMemory& memory, Keys& keys);
  // Its key is worth nothing from here on.
  void remove(const RegisteredMemory& memory);

  // The region of this key in this domain, or null.
  const RegisteredMemory* find(DomainId domain, std::uint32_t key) const {
    const RegisteredMemory* memory = regions_.find(key);
    return memory != nullptr && memory->domain == domain ? memory : nullptr;
  }

  // Whether the key leads there, within bounds and with every right; touches no page.
  bool allows(const Reach& reach) const { return resolve(reach) != nullptr; }

  // The same, and it lies where it was registered.
  bool allows_in_place(const Reach& reach) const { return resolve(reach, true) != nullptr; }

  // The place itself, with its pages translated; null when it is not allowed, and when the region
  // has a translation: then locate says what is the case.
  [[gnu::always_inline]] std::byte* translate(const Reach& reach) {
    const RegisteredMemory* const memory = resolve(reach, true);
    if (memory == nullptr) [[unlikely]] {
      return nullptr;
    }
    std::byte* const base = memory->bytes.data();
    const std::uint64_t offset = reach.address - reinterpret_cast<std::uintptr_t>(base);
    if (reach.size_bytes != 0) [[likely]] {
      // Pages are counted from the region's beginning, and from 1: what a run in virtual time takes
      // must not depend on where the process has its memory.
      pages_.touch(reach.key, page_bytes + offset, reach.size_bytes);
    }
    return base + offset;
  }

  // Adds the parts where it lies, in whatever region; of less than all of it, what was added is
  // worth nothing.
  Whereabouts locate(const Reach& reach, Parts& parts);

  // What was known of a region holds no more.
  void changed() { ++changes_; }
  // Differs whenever regions were added or removed since: whoever keeps what a key led to asks.
  std::uint64_t changes() const { return changes_; }
  const std::uint64_t* changes_word() const { return &changes_; }

  const PageCache& pages() const { return pages_; }
  // Misses since the last call.
  std::uint64_t take_misses() { return pages_.take_misses(); }

 private:
  // The region, if it is as the reach demands.
  const RegisteredMemory* resolve(const Reach& reach, bool in_place = false) const {
    const RegisteredMemory* memory = find(reach.domain, reach.key);
    if (memory == nullptr || (reach.rights & ~memory->access) != 0) [[unlikely]] {
      return nullptr;
    }
    // An address below the region wraps to an offset beyond any length.
    const std::uint64_t offset =
        reach.address - reinterpret_cast<std::uintptr_t>(memory->bytes.data());
    if (!within(offset, reach.size_bytes, memory->bytes.size())) [[unlikely]] {
      return nullptr;
    }
    if (memory->asks && !passes(*memory, offset, reach, in_place)) [[unlikely]] {
      return nullptr;
    }
    return memory;
  }
  // What else is asked of a region that asks.
  static bool passes(const RegisteredMemory& memory, std::uint64_t offset, const Reach& reach,
                     bool in_place);

  Table<RegisteredMemory, limits::region_index_bits, 32> regions_;
  PageCache pages_;
  std::uint64_t changes_ = 0;
};

}  // namespace remora::fabric::nic
