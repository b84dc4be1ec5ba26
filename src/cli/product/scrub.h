// remora scrub: has a store that is served verify all that lives, now, and tells what it found.
#pragma once

#include "cli/product/connection.h"

namespace remora::cli {

int scrub_command(const ConnectArguments& where, bool json);

}  // namespace remora::cli
