#include "lab/run/costs.h"

#include <gtest/gtest.h>

namespace remora::store_bench {
namespace {

TEST(Costs, come_from_the_processor_and_from_the_memory) {
  const fabric::nic::sim::Profile profile = fabric::nic::sim::load_profile().value();
  const HostCosts costs = costs_of(profile);
  EXPECT_EQ(costs.crc_ns_per_kb, profile.cpu.crc_ns_per_kb);
  EXPECT_EQ(costs.copy_ns_per_kb, profile.cpu.copy_ns_per_kb);
  EXPECT_EQ(costs.request_ns, profile.cpu.request_ns);
  EXPECT_EQ(costs.post_ns, profile.cpu.post_ns);
  EXPECT_EQ(costs.poll_ns, profile.cpu.poll_ns);
  EXPECT_EQ(costs.allocate_ns, profile.cpu.allocate_ns);
  EXPECT_EQ(costs.index_ns, profile.cpu.index_ns);
  EXPECT_EQ(costs.flush_line_ns, profile.memory.flush_line_ns);
  EXPECT_EQ(costs.fence_ns, profile.memory.fence_ns);
}

}  // namespace
}  // namespace remora::store_bench
