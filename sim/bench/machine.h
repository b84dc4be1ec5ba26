// Machine: a simulated machine of a modelled run: a place on the network and a NIC.
#pragma once

#include <cstdint>

#include "fabric/nic/core/nic.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::store_bench {

struct Machine {
  Machine(VirtualLoop& loop, fabric::nic::SimNetwork& network, std::uint64_t seed)
      : wire(network.add_node()),
        dma(&loop),
        nic(loop, wire, dma,
            {.keys = fabric::nic::Keys::from_seed(seed),
             .pin_down_entries = static_cast<std::uint32_t>(wire.pin_down_entries())}) {}

  fabric::nic::SimWire& wire;
  fabric::nic::PlainDma dma;
  fabric::nic::Nic nic;
};

}  // namespace remora::store_bench
