// Remote writes without a store around them: one client, one server, and a place in the server's
// persistent memory that the client knows. What each way of writing there takes, modelled.
//
//   rpc  the value travels in a SEND; the server copies it there, persists it and answers
//   ca   the client WRITEs it there, and is done: nobody has made it persistent
//   saw  the client WRITEs, waits, and SENDs; the server persists and answers
//   imm  the client WRITEs with an immediate, which tells the server to persist and to answer
#pragma once

#include <cstdint>
#include <string>

#include "lab/run/modelled.h"

namespace remora::store_bench {

struct RemoteWriteOptions {
  std::string method = "rpc";
  std::uint32_t size_bytes = 64;
  std::uint64_t operations = 1000;
  std::uint64_t warm_up = 100;
  std::uint64_t seed = 1;
  fabric::nic::sim::ProfileNames profile = {};
  ProfileNumbers numbers = {};
};

// invalid_argument for a method that there is not, a size of 0 or above 1 MB, and unknown profiles.
Result<ModelledReport> run_remote_writes(const RemoteWriteOptions& options);

}  // namespace remora::store_bench
