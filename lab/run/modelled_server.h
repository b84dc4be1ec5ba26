// ModelledServers: the machine of a modelled run's servers. Each server has a store, request cores
// and background cores of its own; the machine's NIC and what its memory can write they share.
//
// Cores are numbered from 0: of each server those for requests and those for background work, one
// number for each kind.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/nic/device/sim_machine.h"
#include "host/host.h"
#include "kv/store.h"
#include "lab/run/medium.h"
#include "lab/run/modelled.h"
#include "lab/run/plain_region.h"
#include "pmem/pool.h"
#include "runtime/virtual_loop.h"

namespace remora::store_bench {

CoreHabit habit_of(const CpuUse& use, const fabric::nic::sim::Profile& profile);

class ModelledServers {
 public:
  // What a part of the cores has done so far.
  struct Busy {
    std::uint64_t request_ns = 0;
    std::uint64_t background_ns = 0;
    std::uint64_t medium_ns = 0;
  };

  // All outlive it, and nothing was added to the loop before. `profile` is the machine's.
  ModelledServers(VirtualLoop& loop, fabric::nic::sim::SimNetwork& network,
                  const fabric::nic::sim::Profile& profile, const ModelledOptions& options);

  // Starts them, each with room for all of the plan, which `sizes` has in full.
  Status start(const kv::Engine& engine, const workload::Plan& sizes, std::uint64_t seed);

  // The first core that is not theirs.
  CoreId next_core() const { return 2 * options_.servers; }
  kv::StoreServer& of_client(std::uint32_t client) {
    return *servers_[client % options_.servers].store;
  }
  // Versions that wait to be made persistent, where the servers do so by themselves.
  std::uint64_t backlog() const;
  // Whether they have nothing to do; who cleans all the time always has.
  bool is_quiet() const;
  HostTally& cpu() { return cpu_; }
  Busy busy() const;
  // Of all together.
  Counters counters() const;

 private:
  // Destroyed from the last to the first.
  struct Server {
    std::unique_ptr<PlainRegion> region;
    std::unique_ptr<CachedLines> lines;
    std::unique_ptr<Pool> pool;
    std::unique_ptr<kv::StoreServer> store;
  };

  Result<Server> start_one(const kv::Engine& engine, const workload::Plan& sizes, CoreId core);

  VirtualLoop& loop_;
  fabric::nic::sim::SimNetwork& network_;
  const fabric::nic::sim::Profile& profile_;
  const ModelledOptions& options_;
  const HostCosts costs_;
  HostTally cpu_;
  Medium medium_;
  std::unique_ptr<fabric::nic::sim::SimMachine> machine_;
  std::vector<Server> servers_;
};

}  // namespace remora::store_bench
