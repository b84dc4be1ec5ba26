// SharedReceives: receives that several queue pairs take from as their messages begin (a shared
// receive queue, SRQ). S1 to S4 of queue_pair.h say what may be relied upon.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "fabric/work.h"

namespace remora::fabric {

struct SharedReceivesOptions {
  std::uint32_t max_receives = 128;
  std::uint32_t max_pieces = 4;
};

// Made from a domain, for queue pairs of that domain, which go before it.
class SharedReceives {
 public:
  virtual ~SharedReceives() = default;

  // In order; stops at the first that cannot be posted and says why, as QueuePair::post_receive.
  [[nodiscard]] virtual Status post_receive(std::span<const ReceiveWork> works) = 0;

  // Asks for one event, when a receive is taken and fewer than `limit` are left; 0 asks for none.
  [[nodiscard]] virtual Status arm_limit(std::uint32_t limit) = 0;
  // Grows by one for each such event.
  virtual std::uint64_t limit_events() const = 0;
};

}  // namespace remora::fabric
