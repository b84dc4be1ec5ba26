// Remote writes without a store around them (sim/bench/remote_write.h), measured: a child process
// is the server, and this one writes to a place in its memory that it knows.
#pragma once

#include "server/local_wire.h"
#include "sim/bench/modelled.h"
#include "sim/bench/remote_writer.h"

namespace remora::cli {

struct MeasuredWrites {
  store_bench::WriteMethod method = store_bench::WriteMethod::rpc;
  std::uint32_t size_bytes = 64;
  std::uint64_t operations = 1000;
  std::uint64_t warm_up = 100;
  server::LocalFabric fabric = server::LocalFabric::ring;
};

// invalid_argument for a size that is none; otherwise as processes and wires fail. No process of
// the run is left when it returns.
Result<store_bench::Report> run_measured_writes(const MeasuredWrites& options);

}  // namespace remora::cli
