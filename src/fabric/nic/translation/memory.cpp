#include "fabric/nic/translation/memory.h"

namespace remora::fabric::nic {

bool Memory::add(RegisteredMemory& memory, Keys& keys) {
  ++changes_;
  memory.key = regions_.add(memory, keys);
  return memory.key != 0;
}

void Memory::remove(const RegisteredMemory& memory) {
  ++changes_;
  regions_.remove(memory.key);
  pages_.forget(memory.key);
}

bool Memory::passes(const RegisteredMemory& memory, std::uint64_t offset, const Reach& reach,
                    bool in_place) {
  const bool is_guarded = memory.guard != nullptr && (reach.rights & rights_of_peers) != 0;
  const bool is_flushed =
      (memory.access & flushes_writes) != 0 && (reach.rights & remote_write) != 0;
  return !(in_place && (memory.translation != nullptr || is_flushed)) &&
         (!is_guarded ||
          memory.guard->allows({reach.rights, offset, reach.size_bytes, reach.payload}));
}

Whereabouts Memory::locate(const Reach& reach, Parts& parts) {
  const RegisteredMemory* const memory = resolve(reach);
  if (memory == nullptr) {
    return Whereabouts::refused;
  }
  std::byte* const base = memory->bytes.data();
  std::uint64_t offset = reach.address - reinterpret_cast<std::uintptr_t>(base);
  if (reach.size_bytes != 0) {
    pages_.touch(reach.key, page_bytes + offset, reach.size_bytes);
  }
  if (memory->translation == nullptr) {
    return parts.add(Bytes(base + offset, reach.size_bytes)) ? Whereabouts::there
                                                             : Whereabouts::refused;
  }
  for (std::uint64_t left = reach.size_bytes; left != 0;) {
    const Located found = memory->translation->locate(offset, left, reach.rights);
    if (found.answer != Whereabouts::there) {
      return found.answer;
    }
    if (found.part.empty() || found.part.size() > left || !parts.add(found.part)) {
      return Whereabouts::refused;
    }
    offset += found.part.size();
    left -= found.part.size();
  }
  return Whereabouts::there;
}

}  // namespace remora::fabric::nic
