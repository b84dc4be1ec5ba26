// What every device asks of memory before it registers it.
#pragma once

#include "base/bytes.h"
#include "fabric/types.h"
#include "pmem/region.h"

namespace remora::fabric {

// Why these bytes cannot be registered with these rights, in words for people; null when they can.
const char* why_not_register(Bytes bytes, AccessFlags access, Region* persistence);

}  // namespace remora::fabric
