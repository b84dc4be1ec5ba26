// SharedQueue: a shared receive queue of the software RNIC. Each queue pair takes its next receive
// from here when a message begins and it has none.
#pragma once

#include <cstdint>
#include <span>

#include "fabric/nic/queue_pair/receive_queue.h"
#include "fabric/nic/translation/memory.h"
#include "fabric/shared_receives.h"

namespace remora::fabric::nic {

class SharedQueue final : public SharedReceives {
 public:
  // The options were checked by the domain.
  SharedQueue(DomainId domain, const SharedReceivesOptions& options)
      : domain_(domain),
        max_pieces_(options.max_pieces),
        queue_(options.max_receives, options.max_pieces) {}

  Status post_receive(std::span<const ReceiveWork> works) override;
  Status arm_limit(std::uint32_t limit) override {
    limit_ = limit;
    return {};
  }
  std::uint64_t limit_events() const override { return events_; }

  DomainId domain() const { return domain_; }
  std::uint32_t max_pieces() const { return max_pieces_; }

  // Moves the oldest, if there is one.
  bool pass_oldest(ReceiveQueue& to);

 private:
  const DomainId domain_;
  const std::uint32_t max_pieces_;
  ReceiveQueue queue_;
  std::uint32_t limit_ = 0;
  std::uint64_t events_ = 0;
};

// The queue of a queue pair with these options.
ReceiveQueue receive_queue_of(const QueuePairOptions& options);

}  // namespace remora::fabric::nic
