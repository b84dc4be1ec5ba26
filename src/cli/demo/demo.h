// remora demo: what Remora promises, shown in less than a minute to somebody who has never heard of
// RDMA or persistent memory: a real server that is killed in the middle of its work, and the same
// code on memory whose power is cut.
#pragma once

#include <cstdint>
#include <string>

namespace remora::cli {

struct DemoArguments {
  std::uint64_t seed = 1;
  std::uint64_t kills = 5;
  std::uint64_t cut_runs = 800;
  std::string folder = "data";  // where its files go, and are removed from
};

// 0 when nothing was lost and the planted mistake was noticed, 1 otherwise.
int demo_command(const DemoArguments& arguments);

}  // namespace remora::cli
