// CallsWorld: durable calls in the crash world. One server, with a store and the logs of sessions
// in one pool; callers on nodes of their own, on one simulated network with it, or as processes of
// its machine; all in virtual time.
//
// One thread. The plan, the site table and whatever flows use outlive the world.
#pragma once

#include <memory>
#include <vector>

#include "fabric/nic/wire/sim/sim_network.h"
#include "kv/common/call_effects.h"
#include "kv/store.h"
#include "lab/calls/calls_plan.h"
#include "lab/check/calls.h"
#include "lab/world/node.h"
#include "rpc/calls/server.h"
#include "runtime/virtual_loop.h"

namespace remora::lab {

class CallsWorld {
 public:
  CallsWorld(const CallsPlan& plan, std::uint32_t callers, SiteTable& sites, Random random);
  CallsWorld(const CallsWorld&) = delete;
  CallsWorld& operator=(const CallsWorld&) = delete;

  VirtualLoop& loop() { return loop_; }
  fabric::nic::sim::SimNetwork& network() { return network_; }
  CrashMemory& memory() { return server_.memory(); }
  Node& server() { return server_; }
  std::uint32_t callers() const { return static_cast<std::uint32_t>(callers_.size()); }
  Node& caller(std::uint32_t index) { return *callers_[index]; }

  Status create() { return start(true); }
  Status recover() { return start(false); }
  // While the server serves; else null.
  rpc::calls::CallServer* calls() { return calls_; }
  CallLists lists();

  // The server comes back with this image, and does not serve.
  void restart_server(ConstBytes image);
  void kill_server();

 private:
  struct Program {
    std::unique_ptr<Pool> pool;
    std::unique_ptr<kv::StoreServer> store;
    std::unique_ptr<kv::StoreEffects> effects;
    rpc::calls::Methods methods;
    std::unique_ptr<rpc::calls::CallServer> calls;
  };

  Status start(bool create);

  const CallsPlan& plan_;
  Random numbers_;
  VirtualLoop loop_;
  fabric::nic::sim::SimNetwork network_;
  MappedHost host_;
  Node server_;
  std::vector<std::unique_ptr<Node>> callers_;
  rpc::calls::CallServer* calls_ = nullptr;
  kv::StoreEffects* effects_ = nullptr;
};

}  // namespace remora::lab
