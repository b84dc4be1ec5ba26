// Guard: a region's owner says, access by access, what a peer may do there. A region's rights hold
// for all of it; a guard narrows them down to the bytes that this peer was granted.
//
// Only a device whose own code executes what peers ask for can ask (MemoryRegion::guard_with says
// whether it can). What an initiator does itself by a short cut is not asked about.
//
// One thread, that of the device. It is asked for every packet, so it is quick, does not allocate,
// and calls nothing of the device.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "fabric/types.h"

namespace remora::fabric {

// What a peer wants to do to some bytes of a guarded region.
struct RemoteAccess {
  AccessFlags rights = 0;    // remote_read, remote_write, remote_atomic, or those to flush
  std::uint64_t offset = 0;  // from the beginning of the region, and within it
  std::uint64_t size_bytes = 0;
  // Of a WRITE, the bytes that are about to be stored; null where the whole of a message is asked
  // about before its first byte is stored.
  const std::byte* payload = nullptr;
};

class Guard {
 public:
  // False: the access fails as one without the right does, and counts as a violation.
  virtual bool allows(const RemoteAccess& access) = 0;

 protected:
  ~Guard() = default;
};

}  // namespace remora::fabric
