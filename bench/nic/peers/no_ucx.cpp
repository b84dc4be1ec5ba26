// In the place of ucx_peer.cpp where the library is not installed.
#ifndef REMORA_UCX

#include "bench/nic/peers/peers.h"

namespace remora::bench {
namespace {

Status missing() {
  return Status(
      Code::unsupported,
      "built without UCX; run scripts/peers (apt package libucx-dev), then scripts/build");
}

}  // namespace

Result<std::unique_ptr<Contender>> start_ucx_posix(int) {
  return missing();
}

Result<std::unique_ptr<Contender>> start_ucx_cma(int) {
  return missing();
}

Result<std::unique_ptr<Contender>> start_ucx_tcp(int) {
  return missing();
}

}  // namespace remora::bench

#endif  // REMORA_UCX
