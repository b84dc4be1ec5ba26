// The rings of one host as a world of the contract: two devices on one loop in real time, linked by
// a pair of rings through a socket in a temporary folder.
#pragma once

#include <memory>

#include "tests/fabric/world.h"

namespace remora::fabric::contract {

std::unique_ptr<World> make_ring_world(std::uint64_t seed);
// The same, where all payload of whole lines is lent, and its memory was shown before.
std::unique_ptr<World> make_lending_ring_world(std::uint64_t seed);

}  // namespace remora::fabric::contract
