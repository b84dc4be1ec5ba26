// In the place of libfabric_peer.cpp where the library is not installed.
#ifndef REMORA_LIBFABRIC

#include "bench/nic/peers/peers.h"

namespace remora::bench {

Result<std::unique_ptr<Contender>> start_libfabric_tcp(int far_core) {
  return start_libfabric_shm(far_core);
}

Result<std::unique_ptr<Contender>> start_libfabric_shm(int) {
  return Status(Code::unsupported,
                "built without libfabric; run scripts/peers (apt package libfabric-dev), then "
                "scripts/build");
}

}  // namespace remora::bench

#endif  // REMORA_LIBFABRIC
