// Life: one life of a server over a pool in memory, with a client, on a simulated network.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "fabric/nic/device/sim_machine.h"
#include "fabric/nic/wire/sim/sim_network.h"
#include "kv/store.h"
#include "pmem/pool.h"
#include "runtime/virtual_loop.h"

namespace remora::corruption {

// What somebody was told of a key.
struct Answer {
  enum class Kind : std::uint8_t { value, none, damaged, failed };
  Kind kind = Kind::none;
  std::string text;  // the value, or the failure
  Code code = Code::ok;
};

class Life {
 public:
  // The region and the engine outlive it. What asks locally needs an engine that has a local store.
  explicit Life(Region& region, const kv::Engine& engine = *kv::engines().front(),
                Faults faults = Faults());
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
  Region& region_;
  const kv::Engine& engine_;
  const Faults faults_;
  VirtualLoop loop_{{.seed = 1}};
  fabric::nic::sim::SimNetwork network_;
  fabric::nic::sim::SimMachine near_;
  fabric::nic::sim::SimMachine far_;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<kv::StoreServer> server_;
  std::unique_ptr<kv::StoreClient> client_;
  std::string buffer_;
};

}  // namespace remora::corruption
