// For tests of a store in real time: a machine may let its processes wait for seconds, and its disk
// too, and nothing is lost by it.
#pragma once

#include "kv/store.h"

namespace remora::server {

inline void be_patient(kv::ServerOptions& options) {
  options.put_timeout_ns = 20'000'000'000;
  options.client_timeout_ns = 20'000'000'000;
}
// For who compares all bytes of the pool: nothing changes there by itself.
inline void keep_marks(kv::ServerOptions& options) {
  options.mark_every_ns = 3'600'000'000'000;
}
inline void be_patient(kv::ClientOptions& options) {
  options.timeout_ns = 60'000'000'000;
}

}  // namespace remora::server
