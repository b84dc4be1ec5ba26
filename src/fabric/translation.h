// Translation: where the bytes of a region lie at this moment, for memory that does not simply lie
// where it was registered: a file in extents, memory of which only a part is resident. The region's
// addresses are then names, which only the device understands.
//
// One thread, that of the device. It is asked for every packet, and calls nothing of the device.
// What it gives is used before the device does anything else.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "fabric/types.h"

namespace remora::fabric {

enum class Whereabouts : std::uint8_t {
  there,
  refused,  // these bytes cannot be reached; the access fails as one without the right does
  not_now,  // they are being fetched: whoever wants them asks again, with all that follows
};

struct Located {
  Whereabouts answer = Whereabouts::refused;
  Bytes part = {};  // if they are there
};

class Translation {
 public:
  // Where bytes [offset, offset + size_bytes) of the region lie, for an access with these rights:
  // one of them at least, and as many of the others as follow it in one piece.
  virtual Located locate(std::uint64_t offset, std::uint64_t size_bytes, AccessFlags rights) = 0;

 protected:
  ~Translation() = default;
};

}  // namespace remora::fabric
