// Life: one life of a server over a pool in memory, with a client, on a simulated network.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "fabric/nic/core/nic.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "fabric/nic/wire/sim/sim_wire.h"
#include "kv/store.h"
#include "pmem/pool.h"
#include "runtime/virtual_loop.h"

namespace remora::corruption {

// What somebody was told of a key.
struct Answer {
  enum class Kind : std::uint8_t { value, none, damaged, failed };
  Kind kind = Kind::none;
  std::string text;  // the value, or the failure
};

class Life {
 public:
  // The region outlives it.
  explicit Life(Region& region);
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;
  ~Life();

  // Opens pool and store and connects; or why not.
  Status start();
  Answer ask_remotely(const std::string& key);
  Answer ask_locally(const std::string& key);
  std::set<std::string> scan();
  Status put(const std::string& key, const std::string& value);
  // Lets the background have its way.
  void rest();
  void stop_in_order();

 private:
  struct Machine {
    Machine(VirtualLoop& loop, fabric::nic::SimNetwork& network)
        : wire(network.add_node()),
          nic(loop, wire, dma, {.keys = fabric::nic::Keys::from_system()}) {}

    fabric::nic::SimWire& wire;
    fabric::nic::PlainDma dma;
    fabric::nic::Nic nic;
  };

  Region& region_;
  VirtualLoop loop_{{.seed = 1}};
  fabric::nic::SimNetwork network_;
  Machine near_;
  Machine far_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<kv::StoreServer> server_;
  std::unique_ptr<kv::StoreClient> client_;
  std::string buffer_;
};

}  // namespace remora::corruption
