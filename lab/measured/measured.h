// Measured runs: a store's server in a process of its own, and clients in others, on the wires of
// one host and in real time. With two processors or more the server has the first one to itself,
// and each of the others has a process of clients. Every client has a connection of its own.
//
// The phases are those of modelled runs (lab/run/modelled.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "fabric/verbs/verbs_device.h"
#include "kv/store.h"
#include "lab/measured/seat.h"
#include "lab/run/modelled.h"
#include "lab/workload/plan.h"
#include "link/wires.h"

namespace remora::lab {

struct MeasuredOptions {
  std::string engine = "efactory";
  workload::Plan plan = {};
  std::uint32_t depth = 1;
  std::uint32_t processes = 0;  // for the clients; 0: one for each processor that is left
  link::WireKind fabric = link::WireKind::ring;
  std::optional<fabric::verbs::VerbsOptions> verbs = {};  // by this RDMA device
  kv::Durability durability = kv::Durability::standard;
  kv::VerifyReads verify_reads = kv::VerifyReads::automatic;
  // Small values travel within requests where the product's clients let them, and not only where
  // the engine's own design does.
  bool as_product = false;
  std::string pool_path = {};              // a file that is made for the run; empty: memory
  std::uint64_t pool_bytes = 0;            // 0: room for every version that is written
  Placement placement = Placement::apart;  // together: all processes have one processor
  bool clean_always = false;               // as kv::ServerOptions has it
  std::function<void(std::uint64_t performed, std::uint64_t planned)> progress = {};
};

struct MeasuredReport : store_bench::Report {
  std::uint64_t requests_by_wire = 0;  // of all clients, from the start
  std::uint64_t requests_short_cut = 0;
};

// Failures are those of starting, of the load phase, and of a process that ended. No process of the
// run is left when it returns, nor a file.
Result<MeasuredReport> run_measured(const MeasuredOptions& options);

}  // namespace remora::lab
