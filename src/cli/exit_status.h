// How a command ends that failed.
#pragma once

#include "base/exit_status.h"

namespace remora::cli {

// Prints "remora: message" to standard error and returns exit_for(its code).
int fail(const Status& status);

}  // namespace remora::cli
