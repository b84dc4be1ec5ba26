// SimMachine: a machine of a simulated network, as far as models and tests of protocols need one: a
// place on the network and a NIC, on memory that loses nothing. One whose power can be cut is a
// lab::Node.
//
// One thread, the loop's. Loop and network outlive it.
#pragma once

#include <cstdint>

#include "fabric/nic/device/nic.h"
#include "fabric/nic/dma/plain_dma.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "runtime/virtual_loop.h"

namespace remora::fabric::nic::sim {

struct SimMachine {
  // With keys that nobody can guess, which differ from run to run.
  SimMachine(VirtualLoop& loop, SimNetwork& network)
      : wire(network.add_node()), nic(loop, wire, dma, {.keys = Keys::from_system()}) {}
  // With keys by the seed, a translation cache as the network's profile has it, and a DMA that
  // wakes those who watch memory.
  SimMachine(VirtualLoop& loop, SimNetwork& network, std::uint64_t seed)
      : wire(network.add_node()),
        dma(&loop),
        nic(loop, wire, dma,
            {.keys = Keys::from_seed(seed),
             .pin_down_entries = static_cast<std::uint32_t>(wire.pin_down_entries())}) {}

  SimWire& wire;
  PlainDma dma;
  Nic nic;
};

}  // namespace remora::fabric::nic::sim
