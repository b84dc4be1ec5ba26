#include "fabric/flow.h"

#include "base/lost_memory.h"

namespace remora::fabric {

bool FlowOperation::begin() {
  REMORA_CHECK(state_ == State::fresh, "a request is posted once");
  state_ = State::posted;
  if (!post().ok()) {
    completion_ = {.id = id(), .status = WorkStatus::local_qp_operation_error};
    state_ = State::completed;
    return false;
  }
  return true;
}

bool FlowOperation::await_ready() {
  REMORA_CHECK(!waits_, "a request is awaited once");
  if (state_ == State::fresh) {
    (void)begin();
  }
  if (state_ == State::posted) {
    flows_.take();
  }
  return state_ == State::completed && ++flows_.at_once_ < FlowQueue::most_at_once;
}

void FlowOperation::await_suspend(std::coroutine_handle<> flow) {
  waiter_.suspend(flow);
  waits_ = true;
  if (state_ == State::completed) {
    flows_.runtime_.run_soon(waiter_);
  }
}

Status FlowSend::post() {
  work_.id = id();
  work_.signalled = true;
  return qp_.post_send(std::span(&work_, 1));
}

// Those before the last have no flow: if one fails, the last is flushed, and tells.
Status FlowBatch::post() {
  for (SendWork& work : works_) {
    work.id = 0;
    work.signalled = false;
  }
  works_.back().id = id();
  works_.back().signalled = true;
  return qp_.post_send(works_);
}

Status FlowReceive::post() {
  const ReceiveWork work = {.id = id(), .pieces = pieces_};
  return qp_.post_receive(std::span(&work, 1));
}

bool FlowQueue::take() {
  const std::size_t count = queue_.poll(completions_);
  for (const WorkCompletion& completion : std::span(completions_).first(count)) {
    auto* operation = reinterpret_cast<FlowOperation*>(completion.id);
    if (operation == nullptr) {
      continue;
    }
    operation->completion_ = completion;
    if (any_memory_lost() && completion.status == WorkStatus::success && operation->lost())
        [[unlikely]] {
      operation->completion_.status = WorkStatus::remote_operation_error;
    }
    operation->state_ = FlowOperation::State::completed;
    if (operation->waits_) {
      runtime_.run_soon(operation->waiter_);
    }
  }
  return count != 0;
}

}  // namespace remora::fabric
