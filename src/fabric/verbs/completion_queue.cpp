#include "fabric/verbs/completion_queue.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "fabric/verbs/context.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/work_ring.h"

namespace remora::fabric::verbs {
namespace {

// Room for the completions that the adapter asks for on its own account.
constexpr std::uint32_t extra_completions = 64;

}  // namespace

Result<std::unique_ptr<CompletionQueue>> Completions::create(Context& context,
                                                             std::uint32_t capacity) {
  const std::uint32_t most = context.attributes().max_completions;
  if (capacity == 0 || capacity > most) {
    return Status(Code::invalid_argument, "a completion queue of this device holds from 1 to " +
                                              std::to_string(most) + " completions");
  }
  std::unique_ptr<Completions> made(new Completions(context));
  made->channel_ = ibv_create_comp_channel(context.device());
  if (made->channel_ == nullptr) {
    return os_failure("cannot make a channel for completion events", errno);
  }
  const int descriptor = made->channel_->fd;
  if (fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0) {
    return os_failure("cannot set the channel for completion events", errno);
  }
  const auto entries = static_cast<int>(std::min(capacity + extra_completions, most));
  made->queue_ = ibv_create_cq(context.device(), entries, made.get(), made->channel_, 0);
  if (made->queue_ == nullptr) {
    return os_failure("cannot make a completion queue", errno);
  }
  return std::unique_ptr<CompletionQueue>(std::move(made));
}

Completions::~Completions() {
  if (queue_ != nullptr) {
    context_.take_events();
    (void)event_count();  // acknowledges what has come, which destroying waits for
    ibv_destroy_cq(queue_);
  }
  if (channel_ != nullptr) {
    ibv_destroy_comp_channel(channel_);
  }
}

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  std::array<ibv_wc, polled_at_once> taken;
  std::size_t count = 0;
  while (count < out.size()) {
    const auto wanted = static_cast<int>(std::min<std::size_t>(out.size() - count, polled_at_once));
    const int got = ibv_poll_cq(queue_, wanted, taken.data());
    if (got < 0) {
      context_.take_events();
    }
    if (got <= 0) {
      break;
    }
    count += translate(std::span(taken).first(static_cast<std::size_t>(got)), out.subspan(count));
    if (got < wanted) {
      break;
    }
  }
  return count;
}

std::size_t Completions::translate(std::span<const ibv_wc> from, std::span<WorkCompletion> out) {
  std::size_t count = 0;
  for (const ibv_wc& completion : from) {
    const WorkName name = WorkName::from(completion.wr_id);
    Qp* qp = context_.find(name.slot, name.generation);
    // Of a queue pair that is gone or was reset, there are no completions.
    if (qp != nullptr && qp->completed(name, completion, out[count])) [[likely]] {
      ++count;
    }
  }
  return count;
}

void Completions::arm(bool solicited_only) {
  (void)event_count();
  (void)ibv_req_notify_cq(queue_, solicited_only ? 1 : 0);
}

std::uint64_t Completions::event_count() const {
  ibv_cq* queue = nullptr;
  void* owner = nullptr;
  while (ibv_get_cq_event(channel_, &queue, &owner) == 0) {
    ibv_ack_cq_events(queue, 1);
    ++events_;
  }
  return events_;
}

bool Completions::overrun() const {
  context_.take_events();
  return overrun_;
}

}  // namespace remora::fabric::verbs
