// What UDP on this machine can do for whoever moves bytes by it: datagrams of up to 4 KB, many to a
// system call on both sides, a process that polls and copies, a count back. No keys, no bounds, no
// checksums, nothing that would notice a loss.
#pragma once

#include <memory>

#include "base/result.h"
#include "bench/nic/contender.h"

namespace remora::bench {

// The target runs on that core. WRITEs alone go by UDP; a READ looks at the shared memory, so that
// what arrived can be checked, and is not to be measured.
Result<std::unique_ptr<Contender>> start_udp(int core);

}  // namespace remora::bench
