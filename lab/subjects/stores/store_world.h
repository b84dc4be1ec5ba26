// StoreWorld: an engine in the crash world. One server with its pool in persistent memory, client
// nodes on one simulated network with it, all in virtual time. The server's power can be cut; the
// world goes on, and so does time.
//
// One thread. The plan, the site table and whatever flows use outlive the world.
#pragma once

#include <memory>
#include <vector>

#include "fabric/nic/wire/sim/sim_network.h"
#include "kv/store.h"
#include "lab/subjects/stores/plan.h"
#include "lab/subjects/stores/witness.h"
#include "lab/world/node.h"
#include "lab/world/virtual_worker.h"
#include "runtime/virtual_loop.h"

namespace remora::lab {

class StoreWorld {
 public:
  // Powered on, with memory that is all zero. The observer is one more node.
  StoreWorld(const StorePlan& plan, std::uint32_t clients, SiteTable& sites, Random random);
  StoreWorld(const StoreWorld&) = delete;
  StoreWorld& operator=(const StoreWorld&) = delete;

  VirtualLoop& loop() { return loop_; }
  fabric::nic::sim::SimNetwork& network() { return network_; }
  CrashMemory& memory() { return server_.memory(); }
  Node& server() { return server_; }
  std::uint32_t clients() const { return static_cast<std::uint32_t>(clients_.size() - 1); }
  Node& client(std::uint32_t index) { return *clients_[index]; }
  std::uint32_t observer() const { return clients(); }

  // The server's pool and store, made anew, or recovered from what the memory holds.
  Status create() { return start(true); }
  Status recover() { return start(false); }
  // While the server has power.
  kv::StoreServer* store() { return store_; }

  // The server comes back with this image, and with no store.
  void restart_server(ConstBytes image);

  // A new client on a node with power; waits for as long as there is no store, and tries again
  // when there is none to talk to. `giving_up` ends it.
  Task<std::unique_ptr<kv::StoreClient>> connect(std::uint32_t index, const bool& giving_up);

  // The server's process is killed, and there is no store.
  void kill_server();

  // The observer READs every key, as one more client.
  struct Sight {
    bool scans = false;  // and lists them
    bool finished = false;
    Status failure;                // of the first get that had no answer
    std::uint64_t live_bytes = 0;  // that it found
  };
  // On the observer's node; the sight outlives it.
  void look(Witness& witness, Sight& sight);
  // The observer puts so many values, one after another; every one must find room.
  struct Filling {
    std::uint64_t puts = 0;
    std::uint64_t value_bytes = 0;
    bool finished = false;
    Status failure;
  };
  void fill(Witness& witness, Filling& filling);

  // The pool grows to that, some time from now. What this tells outlives the world.
  struct Growing {
    bool is_planned = false;  // and has not ended
    bool is_under_way = false;
    std::uint64_t to_bytes = 0;
    std::uint64_t acknowledged_bytes = 0;  // by any growth up to now
    std::uint64_t acknowledged = 0;        // growths
    Status failure = {};
  };
  void grow(std::uint64_t to_bytes, std::uint64_t after_ns, Growing& growing);
  // While the server has power.
  std::uint64_t pool_bytes() const { return pool_ == nullptr ? 0 : pool_->size_bytes(); }

  // Keys that a scan lists: all of them, or a failure.
  static Task<Result<std::vector<std::string>>> list(kv::StoreClient& client);

 private:
  struct Program {
    std::unique_ptr<CrashRegion> worker_region;
    std::unique_ptr<VirtualWorker> worker;
    std::unique_ptr<Pool> pool;
    std::unique_ptr<kv::StoreServer> store;
  };

  Status start(bool create);
  Task<void> look_at_all(Witness& witness, Sight& sight);
  Task<void> put_all(Witness& witness, Filling& filling);
  Task<void> grow_pool(std::uint64_t after_ns, Growing& growing);

  const StorePlan& plan_;
  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  Node server_;
  std::vector<std::unique_ptr<Node>> clients_;
  kv::StoreServer* store_ = nullptr;
  Pool* pool_ = nullptr;
};

}  // namespace remora::lab
