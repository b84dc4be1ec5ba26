// remora nic pingpong: SENDs to and fro between two queue pairs, as ibv_rc_pingpong of rdma-core
// does it. Either end may be that program, on Linux's rxe or a RoCE NIC.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "cli/nic_pingpong/exchange.h"

namespace remora::cli {

struct PingpongOptions {
  std::string server = {};    // empty: this is the server
  std::string gid_addr = {};  // of this side's device; empty: loopback
  std::uint16_t port = pingpong_port;
  std::uint64_t size_bytes = 4096;
  std::uint64_t iterations = 1000;
  std::uint32_t mtu_bytes = 1024;
};

struct PingpongReport {
  std::uint64_t iterations = 0;  // to and fro
  std::uint64_t bytes = 0;       // in both directions
  std::uint64_t span_ns = 0;
  std::uint64_t retransmissions = 0;
  std::string own_gid;
  std::string peer_gid;
};

Result<PingpongReport> run_pingpong(const PingpongOptions& options);

}  // namespace remora::cli
