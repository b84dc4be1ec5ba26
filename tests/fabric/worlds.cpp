// The worlds that the contract is held to.
#include "tests/fabric/mapped_world.h"
#include "tests/fabric/ring_world.h"
#include "tests/fabric/roce_world.h"
#include "tests/fabric/sim_world.h"
#include "tests/fabric/world.h"
#include "tests/support/campaign.h"

namespace remora::fabric::contract {

namespace {

const CampaignNumber asked_long("long", "1: seeds of the long run, 0: fewer (0)");
const CampaignNumber asked_seeds("lossy-seeds", "of the long run with losses (400)");

std::uint64_t lossy_seeds() {
  return asked_seeds.value_or(400);
}

WorldKind roce_kind(const std::string& name, const RoceSetting& setting, std::uint64_t seeds = 1) {
  WorldKind kind{.name = name,
                 .make = [setting](std::uint64_t seed) { return make_roce_world(seed, setting); },
                 .seeds = seeds};
  kind.absent = no_roce_at(setting.address);
  return kind;
}

// Two networks of this machine, which live as long as the program. Why there are none is what the
// skipped tests say.
WorldKind cable_kind(const std::string& name, const Shaping& shaping, bool introduces = false) {
  Result<std::unique_ptr<TwoNetworks>> networks = TwoNetworks::create(shaping);
  if (!networks.ok()) {
    WorldKind kind{.name = name, .make = {}};
    kind.absent = networks.status().message();
    return kind;
  }
  RoceSetting setting{.is_rough = !shaping.none(), .introduces = introduces};
  setting.networks = std::move(networks).value();
  return {.name = name,
          .make = [setting](std::uint64_t seed) { return make_roce_world(seed, setting); }};
}

}  // namespace

bool long_run() {
  return asked_long.value_or(0) != 0;
}

const std::vector<WorldKind>& all_worlds() {
  static const nic::sim::SimFaults lossy{
      .loss_ppm = 50'000, .duplicate_ppm = 50'000, .reorder_ppm = 50'000};
  static const std::vector<WorldKind> worlds = {
      {.name = "sim",
       .make = [](std::uint64_t seed) { return make_sim_world(seed, {}); },
       .seeds = 20,
       .long_seeds = 200},
      {.name = "sim_lossy",
       .make = [](std::uint64_t seed) { return make_sim_world(seed, lossy); },
       .seeds = 50,
       .long_seeds = lossy_seeds()},
      {.name = "sim_mapped", .make = make_sim_mapped_world, .seeds = 20, .long_seeds = 200},
      {.name = "ring", .make = make_ring_world},
      {.name = "ring_lending", .make = make_lending_ring_world},
      {.name = "mapped", .make = [](std::uint64_t seed) { return make_mapped_world(seed, {}); }},
      {.name = "mapped_pages",
       .make =
           [](std::uint64_t seed) {
             return make_mapped_world(seed, Platform{.granularity = Granularity::page});
           }},
      roce_kind("roce", {}),
      roce_kind("roce_v6", {.address = "::1"}),
      // Small packets, so that there are many to lose.
      roce_kind("roce_lossy", {.loss_ppm = 10'000, .mtu_bytes = 1024}, 4),
      roce_kind("roce_v6_lossy", {.address = "::1", .loss_ppm = 10'000, .mtu_bytes = 256}, 2),
      // Between two networks: a good cable, one that loses 1 % by chance, one that loses what is
      // more than it can carry.
      cable_kind("roce_cable", {}),
      cable_kind("roce_lossy_cable", {.lost_per_1000 = 10}),
      // Ends that carry packets of different sizes, and agree on one.
      cable_kind("roce_uneven", {.near_mtu = 1500, .far_mtu = 9000}, true),
      cable_kind("roce_narrow", {.queue = "tbf rate 400mbit burst 16kb limit 20kb"}),
  };
  return worlds;
}

}  // namespace remora::fabric::contract
