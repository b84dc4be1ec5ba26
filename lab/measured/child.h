// A child of this process that never outlives it. All processes that the laboratory starts are
// forked here.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string_view>

#include "base/result.h"

namespace remora::lab {

// The child runs the function, and ends with the status that it returns; when this process is gone,
// however it ended, the child is killed. After a fork the function may not rely on other threads of
// this process, nor on locks that they held. The caller kills the child, and waits for it. A
// failure names the child: "cannot start WHAT".
Result<pid_t> fork_child(std::string_view what, const std::function<int()>& run);

// Kills a child, and waits until it is gone.
void end_child(pid_t child);

}  // namespace remora::lab
