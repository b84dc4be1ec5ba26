#include "fabric/registration.h"

#include <cstdint>

namespace remora::fabric {

const char* why_not_register(Bytes bytes, AccessFlags access, Region* persistence) {
  if (bytes.empty()) {
    return "a region needs bytes";
  }
  if ((access & ~(every_access | relaxed_order | past_caches | flushes_writes)) != 0) {
    return "there is no such right";
  }
  if ((access & (remote_write | remote_atomic)) != 0 && (access & local_write) == 0) {
    return "what peers may write, the device must be allowed to write: add local_write";
  }
  if ((access & flush_persistence) != 0 && persistence == nullptr) {
    return "flush_persistence needs the region that makes the bytes persistent";
  }
  if ((access & flushes_writes) != 0 && persistence == nullptr) {
    return "flushes_writes needs the region that makes the bytes persistent";
  }
  if (persistence != nullptr) {
    const auto offset =
        static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(bytes.data()) -
                                   reinterpret_cast<std::uintptr_t>(persistence->data()));
    if (!within(offset, bytes.size(), persistence->size())) {
      return "the bytes do not lie within the region that is to make them persistent";
    }
  }
  return nullptr;
}

}  // namespace remora::fabric
