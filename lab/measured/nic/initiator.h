// The side that initiates: keeps `depth` requests in flight and times each from its post to the
// poll that finds it completed. What one poll finds completed is replaced by one post.
#pragma once

#include <cstdint>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "lab/measured/nic/nic_bench.h"
#include "lab/measured/nic/side.h"
#include "runtime/runtime.h"

namespace remora::lab {

struct Timing {
  std::uint64_t operations = 0;
  std::uint64_t span_ns = 0;
  Histogram latency_ns;
};

class Initiator {
 public:
  Initiator(Runtime& runtime, Side& side, const NicBenchOptions& options);

  // Runs that many operations. Targets walk over the peer's memory, so that they are not always in
  // the cache.
  Status run(std::uint64_t operations, Timing& timing);

 private:
  // Adds the requests of this slot to the batch.
  void prepare(std::uint64_t slot);
  Status post_batch();
  fabric::RemoteAddress next_target();

  Runtime& runtime_;
  Side& side_;
  const NicBenchOptions options_;
  const fabric::Opcode opcode_;
  const bool then_flush_;  // write-flush: a WRITE, and a FLUSH behind it
  const std::uint64_t stride_bytes_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> posted_ns_;  // by slot
  std::vector<fabric::Sge> pieces_;       // by slot
  std::vector<fabric::SendWork> batch_;
};

}  // namespace remora::lab
