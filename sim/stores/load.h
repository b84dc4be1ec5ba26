// StoreLoad: the clients of a run. Each node connects, has a few operations in flight, writes down
// what it is told, and connects anew when its connection fails; until all operations of the plan
// were asked for, or it is stopped.
//
// One thread. World, plan, witness and the load of keys with a time outlive it, and it outlives the
// flows on the nodes.
#pragma once

#include <cstdint>
#include <vector>

#include "kv/local_store.h"
#include "sim/stores/plan.h"
#include "sim/stores/store_world.h"
#include "sim/stores/timed_load.h"
#include "sim/stores/witness.h"

namespace remora::sim {

class StoreLoad {
 public:
  StoreLoad(StoreWorld& world, const StorePlan& plan, Witness& witness, TimedLoad& timed,
            Random random);

  // The node, which has power, begins its work.
  void start(std::uint32_t client);
  // The server's own process takes part, by its local store; the server has power.
  void start_here();
  // The node's power was cut.
  void died(std::uint32_t client) { at_work_[client] = false; }

  // Nobody begins anything any more.
  void stop() { stopped_ = true; }
  // Whether everybody has come to an end.
  bool finished() const;
  // An answer that the store contract does not know, in words; empty as long as there is none.
  const std::string& complaint() const { return complaint_; }
  // What was reached.
  std::uint64_t scans() const { return scans_; }
  // Acknowledged, and larger than a segment.
  std::uint64_t large_puts() const { return large_puts_; }

 private:
  Task<void> live(std::uint32_t client);
  Task<void> stream(std::uint32_t client, std::uint32_t number, kv::StoreClient& store,
                    Random random);
  Task<void> live_here(kv::LocalStore& store, Random random);
  Task<void> change_here(kv::LocalStore& store, Random& random);
  Task<void> put(ClientId who, const std::string& key, kv::StoreClient& store, Random& random);
  Task<void> del(ClientId who, const std::string& key, kv::StoreClient& store);
  Task<void> get(ClientId who, const std::string& key, kv::StoreClient& store, Bytes buffer);
  Task<void> scan(ClientId who, kv::StoreClient& store);
  std::string draw_key(Random& random) const;
  void expect_sense(const char* what, const std::string& key, const Status& status,
                    const kv::StoreClient& store);

  StoreWorld& world_;
  const StorePlan& plan_;
  Witness& witness_;
  TimedLoad& timed_;
  Random random_;
  std::uint64_t left_;  // operations
  std::vector<bool> at_work_;
  bool stopped_ = false;
  std::uint64_t scans_ = 0;
  std::uint64_t large_puts_ = 0;
  std::string complaint_;
};

}  // namespace remora::sim
