// What a client does past the server's processor, as far as it is the same in all engines.
#pragma once

#include <cstddef>

#include "fabric/queue_pair.h"
#include "kv/buffers.h"
#include "rpc/caller.h"
#include "runtime/task.h"

namespace remora::kv {

// READs into the buffer, for flows whose way is long; the wait for the core's other work included.
Task<Status> read_into(rpc::Caller& caller, const Buffer& buffer, std::size_t size_bytes,
                       fabric::RemoteAddress from);

// A request on the caller's queue pair has failed: nothing can succeed there any more.
Status broken(rpc::Caller& caller, const fabric::WorkCompletion& completion);

}  // namespace remora::kv
