// Modelled runs: a store's server and its clients on simulated machines, in virtual time. What a
// run gives follows from its options alone; how fast this machine is changes nothing of it.
//
// The server has a machine with two cores, one for requests and one for background work; each
// client has a machine with one. Hardware profiles say what NICs, memory and cores take. Memory is
// plain: no power is cut, and flushes cost their time and do nothing.
//
// The phases are load, a pause until the server is quiet, warm-up, and what is measured; in each,
// all clients start together.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/nic/wire/sim/profile.h"
#include "host/host.h"
#include "kv/store.h"
#include "sim/workload/meter.h"
#include "sim/workload/plan.h"

namespace remora::store_bench {

struct ModelledOptions {
  std::string engine = "efactory";
  workload::Plan plan = {};  // with the seed of everything
  std::uint32_t depth = 1;   // operations that each client has in flight
  fabric::nic::ProfileNames profile = {};
  kv::Durability durability = kv::Durability::standard;
  std::uint64_t pool_bytes = 0;   // 0: room for every version that is written
  kv::ServerOptions server = {};  // create and expected_keys are the run's to say
  bool check_values = false;
  // Told now and then how many of how many operations have ended, load and warm-up included.
  std::function<void(std::uint64_t performed, std::uint64_t planned)> progress = {};
};

using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

// What happened while it was measured, but for the counters, which count from the start.
struct Report {
  double ops_per_s = 0;
  std::uint64_t span_ns = 0;
  workload::Summary all;
  std::array<workload::Summary, workload::kind_count> kinds;  // by Kind
  Counters counters;                                          // of the server
  Status first_failure;                                       // of an operation

  const workload::Summary& of(workload::Kind kind) const {
    return kinds[static_cast<std::size_t>(kind)];
  }
};

struct ModelledReport : Report {
  HostTally server_cpu;         // both cores
  HostTally client_cpu;         // of all clients together
  double server_core_load = 0;  // the part of the time that the core was busy
  double background_core_load = 0;
  std::uint64_t events = 0;      // of the whole run
  std::uint64_t trace_hash = 0;  // the same for the same options
};

// What a meter saw in that time.
Report report_of(const workload::Meter& meter, std::uint64_t span_ns);

// invalid_argument when the options make no sense; otherwise what the engine failed with at the
// start or in the load phase. Operations that fail later are counted.
Result<ModelledReport> run_modelled(const ModelledOptions& options);

}  // namespace remora::store_bench
