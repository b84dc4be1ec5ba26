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
#include "lab/subjects/stores/plan.h"
#include "lab/subjects/stores/store_world.h"
#include "lab/subjects/stores/timed_load.h"
#include "lab/subjects/stores/witness.h"

namespace remora::lab {

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
  std::uint64_t clears() const { return clears_; }  // of all keys
  // Acknowledged, and larger than a segment.
  std::uint64_t large_puts() const { return large_puts_; }
  // Acknowledged writes of several keys.
  std::uint64_t together() const { return together_; }

 private:
  static constexpr ClientId streams_of_a_node = 16;

  Task<void> live(std::uint32_t client);
  Task<void> stream(std::uint32_t client, std::uint32_t number, kv::StoreClient& store,
                    Random random);
  Task<void> live_here(kv::LocalStore& store, Random random);
  Task<void> change_here(kv::LocalStore& store, Random& random);
  Task<void> put(ClientId who, const std::string& key, kv::StoreClient& store, Random& random);
  Task<void> del(ClientId who, const std::string& key, kv::StoreClient& store);
  Task<void> get(ClientId who, const std::string& key, kv::StoreClient& store, Bytes buffer);
  Task<void> scan(ClientId who, kv::StoreClient& store);
  Task<void> clear_here(kv::LocalStore& store, Random& random);
  bool is_ebb() const;
  // Several keys at once (load_together.cpp).
  struct Wishes;
  Wishes draw_wishes(Random& random);
  Task<void> write_together(ClientId who, kv::StoreClient& store, Bytes buffer, Random& random);
  Task<void> write_together_here(kv::LocalStore& store, Random& random);
  Task<Result<kv::LocalStore::Mark>> write_wishes(kv::LocalStore& store, const Wishes& wishes);
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
  std::uint64_t clears_ = 0;
  std::uint64_t large_puts_ = 0;
  std::uint64_t together_ = 0;
  std::string complaint_;
};

}  // namespace remora::lab
