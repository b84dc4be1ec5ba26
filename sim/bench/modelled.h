// Modelled runs: a store's server and its clients on simulated machines, in virtual time. What a
// run gives follows from its options alone; how fast this machine is changes nothing of it.
//
// The server has a machine with cores for requests and cores for background work, for which both
// queue: a request takes effect when a core takes it. What such cores share besides (locks, caches,
// the memory's bandwidth) costs nothing. Each client has a machine with one core. Hardware profiles
// say what NICs, memory and cores take. Memory is plain: no power is cut, and flushes cost their
// time and do nothing.
//
// After the load and a pause until the server is quiet, the clients work without a stop: first
// until the run is steady (steady.h), then so many operations are measured. That clients, rate and
// latency agree (Little's law) is asserted.
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
#include "sim/bench/steady.h"
#include "sim/workload/meter.h"
#include "sim/workload/plan.h"

namespace remora::store_bench {

// Of the server's machine.
struct ServerCores {
  std::uint32_t request = 1;
  std::uint32_t background = 1;  // 0: such work has a part of the first request core
  Spread spread = Spread::by_client;
};

// "8 request cores (by-client), 1 background core".
std::string to_text(const ServerCores& cores);

struct ModelledOptions {
  std::string engine = "efactory";
  workload::Plan plan = {};  // with the seed of everything; its warm-up is the least there is
  ServerCores cores = {};
  SteadyRule steady = {};
  std::uint32_t depth = 1;  // operations that each client has in flight
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
  HostTally server_cpu;         // all cores
  HostTally client_cpu;         // of all clients together
  double server_core_load = 0;  // the part of the time that the request cores were busy
  double background_core_load = 0;
  bool steady = false;            // else it is a burst: backlog or rate did not stand still
  std::uint64_t warmed_up = 0;    // operations before those that are measured
  std::uint64_t backlog = 0;      // versions that were not persistent in the end
  double persistent_share = 1.0;  // of what was put, and not overwritten before, in the end
  std::uint64_t events = 0;       // of the whole run
  std::uint64_t trace_hash = 0;   // the same for the same options
};

// What a meter saw in that time.
Report report_of(const workload::Meter& meter, std::uint64_t span_ns);

// Why rate and latency cannot both be right, or success.
Status check_littles_law(const ClosedLoop& loop);

// invalid_argument when the options make no sense; otherwise what the engine failed with at the
// start or in the load phase. Operations that fail later are counted.
Result<ModelledReport> run_modelled(const ModelledOptions& options);

}  // namespace remora::store_bench
