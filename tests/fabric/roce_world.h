// RoCE over UDP as a world of the contract: two devices on one loop in real time, each with a
// socket, on loopback or in a network of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/fabric/two_networks.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

struct RoceSetting {
  std::string address = "127.0.0.1";
  std::uint32_t loss_ppm = 0;
  std::uint32_t mtu_bytes = 0;
  std::shared_ptr<const TwoNetworks> networks = {};  // instead of loopback
  bool is_rough = false;                             // those lose packets
  // The devices find each other as those of a store and its clients do, and agree on the MTU.
  bool introduces = false;
};

std::unique_ptr<World> make_roce_world(std::uint64_t seed, const RoceSetting& setting);

// Why there is no such world on this machine; empty when there is.
std::string no_roce_at(const std::string& address);

}  // namespace remora::fabric::contract
