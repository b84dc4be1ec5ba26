// EventChannel: where all completion queues of a device raise their events, and what wakes a loop
// that sleeps. The device works by itself, so a loop that went to sleep on other descriptors alone
// would not notice that a message has come.
//
// Before the loop sleeps, every queue is armed; what came before that raised no event, so the loop
// asks its pollers once more and sleeps only if they had nothing. While the loop is busy this costs
// nothing: no system call, no event.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/poller.h"

namespace remora::fabric::verbs {

class Completions;

class EventChannel final : public Poller {
 public:
  // How many queue pairs the device has is asked where `queue_pairs` points.
  static Result<std::unique_ptr<EventChannel>> create(ibv_context* device,
                                                      const std::size_t* queue_pairs);
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;
  // Its queues must be gone.
  ~EventChannel() override;

  ibv_comp_channel* get() const { return channel_; }
  void add(Completions& queue) { queues_.push_back(&queue); }
  void remove(Completions& queue);

  // Tells the queues of the events that have come; returns whether there were any.
  bool take();

  bool poll() override;
  int wake_fd() const override { return channel_->fd; }
  bool arm_wake() override;
  void nothing_came() override { slept_ = false; }
  // A peer's next message may come sooner than a sleep would take.
  bool wants_spin() const override { return *queue_pairs_ != 0; }

 private:
  EventChannel(ibv_comp_channel* channel, const std::size_t* queue_pairs)
      : channel_(channel), queue_pairs_(queue_pairs) {}

  ibv_comp_channel* channel_;
  const std::size_t* queue_pairs_;
  std::vector<Completions*> queues_;
  bool slept_ = false;  // since the channel was last looked at
};

}  // namespace remora::fabric::verbs
