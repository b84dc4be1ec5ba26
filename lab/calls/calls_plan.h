// CallsPlan: all that a run of durable calls in the crash world follows from, drawn from its seed.
// Small logs, so that they wrap often; few keys, so that calls meet; now and then callers that are
// processes of the server's machine.
#pragma once

#include "fabric/nic/wire/sim/sim_network.h"
#include "lab/crash/subject.h"
#include "lab/world/mapped_actor.h"
#include "rpc/calls/log_format.h"

namespace remora::lab {

struct CallsPlan {
  Platform platform;
  Faults faults;
  bool receiver_flushes = false;  // the design's choice
  std::uint32_t callers = 1;
  std::uint32_t streams = 1;  // of each
  std::uint32_t keys = 1;
  std::uint64_t operations = 0;  // of all together
  std::uint32_t most_together = 1;
  std::uint64_t large_bytes = 0;  // arguments, at most
  std::uint64_t longest_pause_ns = 0;
  std::uint64_t longest_work_ns = 0;  // of a handler; twice
  bool waits_for_results = false;     // each call by itself

  rpc::calls::Form form = rpc::calls::Form::checksum;
  std::uint64_t ring_bytes = 0;
  std::uint32_t window = 0;
  bool dma_passes_caches = false;  // known to
  bool on_one_host = false;
  ActorOptions actor;

  std::uint64_t trouble_every_ns = 0;  // 0: never
  std::uint64_t longest_trouble_ns = 0;
  fabric::nic::sim::SimFaults bad_network;

  std::uint32_t cuts = 0;
  std::uint32_t probes = 0;
  std::uint32_t kills = 0;
  std::uint64_t cut_one_in = 1;  // memory events
  std::uint64_t probe_one_in = 1;
};

CallsPlan draw_calls_plan(const CrashRun& run, bool receiver_flushes, Random& random);

}  // namespace remora::lab
