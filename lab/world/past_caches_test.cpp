// Memory that is registered past the caches: what a remote WRITE and a FLUSH that only pushes are
// worth there.
#include <gtest/gtest.h>

#include "lab/world/test_rig.h"

namespace remora::lab {
namespace {

using fabric::Opcode;
using fabric::WorkStatus;

constexpr fabric::AccessFlags uncached = fabric::every_access | fabric::past_caches;

// How often bytes were lost that were written to the server's memory, and flushed over PCIe, while
// a region with this access lies over it, or after it has gone.
std::uint64_t lost_after_push(fabric::AccessFlags access, bool region_goes) {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rig rig(seed, parse_platform("dmp,ddio=on,flush=pcie").value());
    // They go with the process, the region first.
    auto& domain = rig.server.start<std::unique_ptr<fabric::ProtectionDomain>>(
        rig.server.nic().create_domain());
    auto registered =
        domain->register_memory(rig.server.region().bytes(), access, &rig.server.region());
    EXPECT_TRUE(registered.ok()) << registered.status().message();
    auto& region =
        rig.server.start<std::unique_ptr<fabric::MemoryRegion>>(std::move(registered).value());
    if (region_goes) {
      region.reset();
    }
    rig.mark(600);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 600)), WorkStatus::success);
    EXPECT_EQ(rig.finish(rig.flush_of(600)), WorkStatus::success);
    rig.server.cut_power();
    lost += rig.server_has(600) ? 0U : 1U;
  }
  return lost;
}

TEST(PastCaches, a_push_makes_persistent_whatever_ddio_says) {
  EXPECT_GT(lost_after_push(fabric::every_access, false), 0u);
  EXPECT_EQ(lost_after_push(uncached, false), 0u);
}

TEST(PastCaches, end_with_the_region) {
  EXPECT_GT(lost_after_push(uncached, true), 0u);
}

TEST(PastCaches, are_refused_where_nobody_can_keep_them) {
  const auto code = [](const char* platform, MappedHost* host) {
    Rig rig(1, parse_platform(platform).value(), host);
    return rig.server.nic()
        .create_domain()
        ->register_memory(rig.server.region().bytes(), uncached, &rig.server.region())
        .code();
  };
  EXPECT_EQ(code("dmp,ddio=on", nullptr), Code::ok);
  EXPECT_EQ(code("dmp,ddio=on,media=page", nullptr), Code::unsupported);
  MappedHost host;
  EXPECT_EQ(code("dmp,ddio=on", &host), Code::unsupported);
}

}  // namespace
}  // namespace remora::lab
