#include "fabric/verbs/event_channel.h"

#include <fcntl.h>

#include <cerrno>

#include "fabric/verbs/completion_queue.h"

namespace remora::fabric::verbs {

Result<std::unique_ptr<EventChannel>> EventChannel::create(ibv_context* device,
                                                           const std::size_t* queue_pairs) {
  ibv_comp_channel* channel = ibv_create_comp_channel(device);
  if (channel == nullptr) {
    return os_failure("cannot make a channel for completion events", errno);
  }
  std::unique_ptr<EventChannel> made(new EventChannel(channel, queue_pairs));
  // Asking for events must not wait for one.
  if (fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK) != 0) {
    return os_failure("cannot set the channel for completion events", errno);
  }
  return made;
}

EventChannel::~EventChannel() {
  ibv_destroy_comp_channel(channel_);
}

void EventChannel::remove(Completions& queue) {
  std::erase(queues_, &queue);
}

bool EventChannel::take() {
  ibv_cq* queue = nullptr;
  void* owner = nullptr;
  bool any = false;
  while (ibv_get_cq_event(channel_, &queue, &owner) == 0) {
    ibv_ack_cq_events(queue, 1);
    static_cast<Completions*>(owner)->note_event();
    any = true;
  }
  return any;
}

// The queues' own pollers take the completions. What matters here is that the loop has a turn.
bool EventChannel::poll() {
  if (!slept_) [[likely]] {
    return false;
  }
  slept_ = false;
  return take();
}

bool EventChannel::arm_wake() {
  bool all_were = true;
  for (Completions* queue : queues_) {
    all_were &= !queue->arm_wake();
  }
  slept_ = all_were;
  return all_were;
}

}  // namespace remora::fabric::verbs
