// The short cut of one host as a world of the contract: as the ring world, but far's memory is
// mapped by near, too, and near is granted it before a test begins.
#pragma once

#include <memory>

#include "lab/memory/platform.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

std::unique_ptr<World> make_mapped_world(std::uint64_t seed, const Platform& platform);

// Requests that near executed itself.
inline std::uint64_t short_cut(World& world) {
  return world.near().counters().requests_short_cut;
}

}  // namespace remora::fabric::contract
