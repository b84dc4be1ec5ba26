// An RNIC between two processes at its ideal: work entries of one cache line in shared memory, a
// process that polls for them and copies, and a count of completions back. No keys, no bounds, no
// order to keep beyond that of the entries: what the machine itself needs, and no more.
#pragma once

#include <memory>

#include "base/result.h"
#include "bench/nic/contender.h"

namespace remora::bench {

// The target runs on that core.
Result<std::unique_ptr<Contender>> start_ideal(int core);

}  // namespace remora::bench
