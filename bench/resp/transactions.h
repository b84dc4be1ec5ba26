// Transactions: load that redis-benchmark has none of: MULTI, eight SETs of their own keys, EXEC.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace remora::bench {

// Sends so many transactions on so many connections, some of them at once on each, and returns how
// many were answered in a second. A reply that is not the expected one is a failure.
Result<double> transactions_per_second(std::uint16_t port, std::uint64_t transactions,
                                       std::uint32_t clients, std::uint32_t pipeline);

}  // namespace remora::bench
