// What flows of the simple designs wait with for a ticket, where none has a committer.
#pragma once

#include "base/result.h"
#include "host/host.h"
#include "runtime/task.h"

namespace remora::kv {

// Goes on when the ticket is persistent, or with the region's failure. The host outlives it.
Task<Status> await_persistent(const Host& host, Ticket ticket);

}  // namespace remora::kv
