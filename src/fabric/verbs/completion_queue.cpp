#include "fabric/verbs/completion_queue.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "fabric/verbs/context.h"
#include "fabric/verbs/event_channel.h"
#include "fabric/verbs/queue_pair.h"
#include "fabric/verbs/shared_queue.h"
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
  const auto entries = static_cast<int>(std::min(capacity + extra_completions, most));
  made->queue_ = ibv_create_cq(context.device(), entries, made.get(), context.events().get(), 0);
  if (made->queue_ == nullptr) {
    return os_failure("cannot make a completion queue", errno);
  }
  context.events().add(*made);
  return std::unique_ptr<CompletionQueue>(std::move(made));
}

Completions::~Completions() {
  if (queue_ != nullptr) {
    context_.take_events();
    context_.events().take();  // acknowledges what has come, which destroying waits for
    context_.events().remove(*this);
    ibv_destroy_cq(queue_);
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
    if (name.generation == WorkName::shared_generation) [[unlikely]] {
      SharedQueue* shared = context_.find_shared(name.slot);
      Qp* taker = context_.find_number(completion.qp_num);
      count += shared != nullptr && taker != nullptr &&
                       taker->received(*shared, name, completion, out[count])
                   ? 1U
                   : 0U;
      continue;
    }
    Qp* qp = context_.find(name.slot, name.generation);
    // Of a queue pair that is gone or was reset, there are no completions.
    if (qp != nullptr && qp->completed(name, completion, out[count])) [[likely]] {
      ++count;
    }
  }
  return count;
}

void Completions::arm(bool solicited_only) {
  context_.events().take();
  asked_ = ibv_req_notify_cq(queue_, solicited_only ? 1 : 0) == 0;
  armed_ = asked_ && !solicited_only;
}

bool Completions::arm_wake() {
  if (armed_) {
    return false;
  }
  armed_ = ibv_req_notify_cq(queue_, 0) == 0;
  return true;
}

std::uint64_t Completions::event_count() const {
  context_.events().take();
  return events_;
}

bool Completions::overrun() const {
  context_.take_events();
  return overrun_;
}

}  // namespace remora::fabric::verbs
