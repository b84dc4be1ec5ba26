// Runs of an RPC design: objects that clients read and write by calls (lab/rpc/objects.h), under
// the workloads that stores are measured with; modelled in virtual time (lab/run/modelled.h), or
// measured between processes of this machine.
//
// A client of a rival has `window` calls in flight, each of which it waits for. One of a durable
// design waits until each is persistent, and has `window` calls that have not yet run. The load
// phase and the pause after it are those of all runs; so is what latency means: of a write, until
// it is persistent; of a read, until its bytes are there. Throughput counts a call when its client
// goes on; the handlers of the last `window` calls are under way then, and no more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "fabric/nic/wire/sim/profile.h"
#include "lab/rpc/objects.h"
#include "lab/run/modelled.h"
#include "lab/workload/plan.h"
#include "rpc/designs/design.h"

namespace remora::lab {

struct CallBench {
  std::string design = "farm";
  std::string fabric = "sim";  // or ring, mapped, roce
  workload::Plan plan = {};    // values of one size
  CallWork work = {};
  std::uint32_t window = 1;
  // Of modelled runs.
  fabric::nic::sim::ProfileNames profile = {.nic = "connectx-4"};
  store_bench::ProfileNumbers numbers = {};
  store_bench::ServerCores cores = {};
  std::function<void(std::uint64_t performed, std::uint64_t planned)> progress = {};
};

struct CallReport : store_bench::Report {
  bool modelled = false;
  store_bench::ModelledReport model;   // of a modelled run
  std::uint64_t sent_again = 0;        // requests whose answer was long in coming
  std::uint64_t requests_by_wire = 0;  // of a measured run: of all clients, from the start
  std::uint64_t requests_short_cut = 0;
};

// invalid_argument for options that make no sense, unsupported where the design cannot run there.
Result<CallReport> run_calls(const CallBench& bench);

// The part of run_calls that is measured: a server in a process of its own, all clients in this
// one.
Result<CallReport> run_measured_calls(const CallBench& bench);

// What a design is told, on whatever fabric.
rpc::DesignOptions design_options_for(const CallBench& bench);

}  // namespace remora::lab
