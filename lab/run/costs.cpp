#include "lab/run/costs.h"

namespace remora::store_bench {

HostCosts costs_of(const fabric::nic::sim::Profile& profile) {
  return {.crc_ns_per_kb = profile.cpu.crc_ns_per_kb,
          .copy_ns_per_kb = profile.cpu.copy_ns_per_kb,
          .request_ns = profile.cpu.request_ns,
          .post_ns = profile.cpu.post_ns,
          .poll_ns = profile.cpu.poll_ns,
          .allocate_ns = profile.cpu.allocate_ns,
          .index_ns = profile.cpu.index_ns,
          .flush_line_ns = profile.memory.flush_line_ns,
          .fence_ns = profile.memory.fence_ns};
}

}  // namespace remora::store_bench
