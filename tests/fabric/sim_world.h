// The simulated wire as a world of the contract: two nodes on a network in virtual time, with the
// faults given. Far's memory is that of the crash world, so bytes become visible at seeded times.
#pragma once

#include <memory>

#include "fabric/nic/wire/sim/sim_network.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

std::unique_ptr<World> make_sim_world(std::uint64_t seed, const nic::sim::SimFaults& faults);

// The same without faults, where near works on far's memory itself, as an actor that may stand
// still in the middle of an operation.
std::unique_ptr<World> make_sim_mapped_world(std::uint64_t seed);

}  // namespace remora::fabric::contract
