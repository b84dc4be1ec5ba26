// UnreliablePersist: what an unreliable queue pair's device makes persistent by itself (RFlush):
// the messages that go to its log, and WRITEs to regions that are flushed. In batches: while one is
// at the medium, the next one gathers. Of each message its sender is told, once, and not again if
// that gets lost.
//
// One thread, no allocation after it was made.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/nic/queue_pair/message_mover.h"
#include "fabric/nic/queue_pair/persist_steps.h"
#include "runtime/timer.h"

namespace remora::fabric::nic {

class UnreliablePersist final : private Timer {
 public:
  // Whom to tell, and of which packet.
  struct Sender {
    LinkId link = 0;
    QpNumber queue_pair = 0;
    PacketSequence sequence = 0;
  };

  // The mover is of a queue pair with a log, or null.
  UnreliablePersist(Connection& connection, MessageMover* mover, std::uint32_t messages);

  bool has_log() const { return mover_ != nullptr; }
  // Whether one more can be kept; what cannot is lost.
  bool may_hold() const { return count_ < waiting_.size(); }
  bool may_hold_message(std::uint32_t size_bytes) const {
    return may_hold() && mover_->fits(size_bytes) && mover_->may_hold() && mover_->has_room(1);
  }

  // The message is complete in the oldest receive, which leaves the queue.
  void hold_message(ReceiveQueue& queue, std::uint32_t size_bytes, std::uint32_t skipped_bytes,
                    const Sender& sender);
  // The WRITE is complete; its completion at this side, if it has one, comes when it is persistent.
  void hold_write(const Reach& written, const WorkCompletion* told, bool solicited,
                  const Sender& sender);

  // The queue pair has come to its end: what is held completes with `flushed`, or is dropped.
  void stop();
  void clear();

 private:
  struct Waiting {
    Sender sender;
    Reach written = {};  // of a WRITE
    WorkCompletion told = {};
    bool is_told = false;
    bool solicited = false;
  };

  Waiting& at(std::uint32_t index) { return waiting_[(first_ + index) % waiting_.size()]; }
  void add(const Waiting& waiting);
  void expire() override { go_on(); }
  void go_on();
  bool begin();
  void finish();
  void tell(const Sender& sender);

  Connection& connection_;
  Engine& engine_;
  MessageMover* const mover_;
  PersistSteps steps_;
  std::vector<Waiting> waiting_;  // a ring
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t batch_ = 0;  // of these, the oldest are at the medium
};

}  // namespace remora::fabric::nic
