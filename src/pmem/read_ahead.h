// Memory that is about to be read from front to back, for whoever recovers. A mapping of a file is
// advised to be read at random (file_region.h), so that each page would be fetched by itself, when
// it is touched.
#pragma once

#include "base/bytes.h"

namespace remora {

// Lets the kernel begin to fetch the range, and does not wait for it. Of memory with no file behind
// it, and where it cannot be done, nothing happens.
void read_ahead(ConstBytes range);

}  // namespace remora
