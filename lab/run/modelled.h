// Modelled runs: a store's server and its clients on simulated machines, in virtual time. What a
// run gives follows from its options alone; how fast this machine is changes nothing of it.
//
// The server has a machine with cores for requests and cores for background work, for which both
// queue: a request takes effect when a core takes it. They share the write bandwidth of its memory
// (medium.h); what they share besides (locks, caches) costs nothing. There may be several servers
// on that machine: then they share its NIC and memory. Each client has a core, and a machine, or
// shares one with others and with them its NIC. Hardware profiles say what NICs, memory and cores
// take. Memory is plain: no power is cut, and flushes cost their time and do
// nothing.
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
#include "lab/run/steady.h"
#include "lab/workload/meter.h"
#include "lab/workload/plan.h"

namespace remora::store_bench {

// How cores wait for work, and whether other programs have them too.
struct CpuUse {
  bool sleeps = false;  // until an interrupt (the profile's interrupt_ns); else they spin
  double share = 1;     // of a core's time, above 0: other programs have the rest
  std::uint64_t slice_ns = 1'000'000;  // which comes in pieces of this length

  bool operator==(const CpuUse&) const = default;
};

// Of one server.
struct ServerCores {
  std::uint32_t request = 1;
  std::uint32_t background = 1;  // 0: such work has a part of the first request core
  Spread spread = Spread::by_client;
  CpuUse use = {};
};

// "8 request cores (by-client), 1 background core".
std::string to_text(const ServerCores& cores);

// A number of the profile that a run has otherwise than its file, by its key:
// "memory.flush_line_ns".
using ProfileNumbers = std::vector<std::pair<std::string, std::uint64_t>>;

struct ModelledOptions {
  std::string engine = "efactory";
  std::string way = {};              // in place of the engine: one of ways.h
  const kv::Engine* made = nullptr;  // or one that is in no list
  workload::Plan plan = {};  // with the seed of everything; its warm-up is the least there is
  ServerCores cores = {};
  // On one machine, with a store each; clients take turns with them.
  std::uint32_t servers = 1;
  CpuUse client_use = {};
  std::uint32_t client_machines = 0;  // which the clients share; 0: each has its own
  SteadyRule steady = {};
  std::uint32_t depth = 1;  // operations that each client has in flight
  fabric::nic::sim::ProfileNames profile = {};
  ProfileNumbers numbers = {};
  kv::Durability durability = kv::Durability::standard;
  kv::VerifyReads verify_reads = kv::VerifyReads::automatic;
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
  double medium_load = 0;         // the part of the time that lines were written back to it
  bool steady = false;            // else it is a burst: backlog or rate did not stand still
  std::uint64_t warmed_up = 0;    // operations before those that are measured
  std::uint64_t backlog = 0;      // versions that were not persistent in the end
  double persistent_share = 1.0;  // of what was put, and not overwritten before, in the end
  std::uint64_t events = 0;       // of the whole run
  std::uint64_t trace_hash = 0;   // the same for the same options
};

// What a meter saw in that time.
Report report_of(const workload::Meter& meter, std::uint64_t span_ns);

// The profile of these names, with these numbers set.
Result<fabric::nic::sim::Profile> profile_of(const fabric::nic::sim::ProfileNames& names,
                                             const ProfileNumbers& numbers);

// Why rate and latency cannot both be right, or success.
Status check_littles_law(const ClosedLoop& loop);

// invalid_argument when the options make no sense; otherwise what the engine failed with at the
// start or in the load phase. Operations that fail later are counted.
Result<ModelledReport> run_modelled(const ModelledOptions& options);

}  // namespace remora::store_bench
