// What CPU work costs a simulated host: from the processor's and the memory's hardware profile.
#pragma once

#include "fabric/nic/wire/sim/profile.h"
#include "host/host.h"

namespace remora::store_bench {

HostCosts costs_of(const fabric::nic::sim::Profile& profile);

}  // namespace remora::store_bench
