// Our own wires as contenders: the software RNIC, driven through the fabric contract as a protocol
// drives it, with the sides and the target processes of `remora bench nic`.
#pragma once

#include <memory>

#include "base/result.h"
#include "bench/nic/contender.h"

namespace remora::bench {

// This process must be pinned to near_core; the target runs on far_core.
Result<std::unique_ptr<Contender>> start_ring(int near_core, int far_core);
Result<std::unique_ptr<Contender>> start_mapped(int near_core, int far_core);
Result<std::unique_ptr<Contender>> start_roce(int near_core, int far_core);

}  // namespace remora::bench
