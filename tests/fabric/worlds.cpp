// The worlds that the contract is held to.
#include <cstdlib>

#include "tests/fabric/mapped_world.h"
#include "tests/fabric/ring_world.h"
#include "tests/fabric/sim_world.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

bool long_run() {
  const char* asked = std::getenv("REMORA_CONTRACT_LONG");
  return asked != nullptr && std::string(asked) == "1";
}

const std::vector<WorldKind>& all_worlds() {
  static const nic::SimFaults lossy{
      .loss_ppm = 50'000, .duplicate_ppm = 50'000, .reorder_ppm = 50'000};
  static const std::vector<WorldKind> worlds = {
      {.name = "sim",
       .make = [](std::uint64_t seed) { return make_sim_world(seed, {}); },
       .seeds = 20,
       .long_seeds = 200},
      {.name = "sim_lossy",
       .make = [](std::uint64_t seed) { return make_sim_world(seed, lossy); },
       .seeds = 50,
       .long_seeds = 400},
      {.name = "sim_mapped", .make = make_sim_mapped_world, .seeds = 20, .long_seeds = 200},
      {.name = "ring", .make = make_ring_world},
      {.name = "mapped", .make = [](std::uint64_t seed) { return make_mapped_world(seed, {}); }},
      {.name = "mapped_pages",
       .make =
           [](std::uint64_t seed) {
             return make_mapped_world(seed, Platform{.granularity = Granularity::page});
           }},
  };
  return worlds;
}

}  // namespace remora::fabric::contract
