// LocalPeer: which user of this machine is at the other end of a TCP connection. The kernel knows
// for connections that begin and end on this host: it is asked for the peer's socket by its
// addresses, which needs no right.
//
// One thread; a question takes some microseconds and never waits.
#pragma once

#include <sys/types.h>

#include <optional>

#include "fabric/nic/wire/descriptor.h"

namespace remora::server {

class LocalPeer {
 public:
  // Nothing when the peer is on another host, is gone by now, or the kernel does not tell.
  std::optional<uid_t> user_of(int descriptor);

 private:
  fabric::nic::Descriptor kernel_;
};

}  // namespace remora::server
