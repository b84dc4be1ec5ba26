#include "fabric/nic/queue_pair/shared_queue.h"

namespace remora::fabric::nic {

Status SharedQueue::post_receive(std::span<const ReceiveWork> works) {
  for (const ReceiveWork& work : works) {
    if (work.pieces.size() > max_pieces_) {
      return Status(Code::invalid_argument,
                    "the request has more pieces than the shared queue's max_pieces");
    }
    if (queue_.full()) {
      return Status(Code::no_space, "the shared receive queue is full");
    }
    queue_.push(work);
  }
  return {};
}

bool SharedQueue::pass_oldest(ReceiveQueue& to) {
  if (queue_.empty()) {
    return false;
  }
  to.push({queue_.front_id(), queue_.front_pieces()});
  queue_.pop();
  if (queue_.size() < limit_) {
    limit_ = 0;
    ++events_;
  }
  return true;
}

bool ReceiveQueue::take_shared() {
  return shared_ != nullptr && shared_->pass_oldest(*this);
}

// One that takes from a shared queue has no room for receives of its own.
ReceiveQueue receive_queue_of(const QueuePairOptions& options) {
  if (options.shared_receives == nullptr) {
    return {options.max_receives, options.max_pieces};
  }
  auto* const shared = static_cast<SharedQueue*>(options.shared_receives);
  return {0, shared->max_pieces(), shared};
}

}  // namespace remora::fabric::nic
