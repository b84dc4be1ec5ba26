// Remote writes without a store around them (lab/run/remote_write.h), measured: a child process
// is the server, and this one writes to a place in its memory that it knows.
#pragma once

#include "lab/measured/seat.h"
#include "lab/run/modelled.h"
#include "lab/run/remote_writer.h"
#include "link/wires.h"

namespace remora::lab {

struct MeasuredWrites {
  store_bench::WriteMethod method = store_bench::WriteMethod::rpc;
  std::uint32_t size_bytes = 64;
  std::uint64_t operations = 1000;
  std::uint64_t warm_up = 100;
  link::WireKind fabric = link::WireKind::ring;
  Placement placement = Placement::apart;
};

// invalid_argument for a size that is none; otherwise as processes and wires fail. No process of
// the run is left when it returns.
Result<store_bench::Report> run_measured_writes(const MeasuredWrites& options);

}  // namespace remora::lab
