// PoolService: what clients can join at a host's doors. A host serves several from one pool, each
// with its roots and its account there. Clients name the service, and are told which design serves
// it; from then on the two talk by a queue pair, in the words of that design.
//
// One thread, the host's loop. The host, its device and its pool outlive it.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "fabric/queue_pair.h"
#include "link/access.h"

namespace remora::server {

class PoolService {
 public:
  virtual ~PoolService() = default;

  virtual std::string_view name() const = 0;    // up to 16 letters, as "store"
  virtual std::string_view design() const = 0;  // up to 32: of a store, its engine

  // A client that came, with the role that it was given, never none; its queue pair is answered
  // with the service's for it. What the role does not allow, the service refuses.
  virtual Result<fabric::QueuePairAddress> accept(const fabric::QueuePairAddress& client,
                                                  link::Role role) = 0;
  virtual std::size_t clients() const = 0;
  // Whether something that was acknowledged is not yet as persistent as it becomes by itself.
  virtual bool busy() const = 0;
  // The orderly end of one that is not busy. Blocks. Nothing is asked of it any more.
  virtual Status finish() = 0;
};

}  // namespace remora::server
