#include "rpc/caller.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace remora::rpc {

using fabric::Opcode;
using fabric::WorkCompletion;
using fabric::WorkStatus;

CallSlot& CallSlot::operator=(CallSlot&& other) noexcept {
  if (this != &other) {
    if (caller_ != nullptr) {
      caller_->release(index_);
    }
    caller_ = std::exchange(other.caller_, nullptr);
    index_ = other.index_;
  }
  return *this;
}

CallSlot::~CallSlot() {
  if (caller_ != nullptr) {
    caller_->release(index_);
  }
}

Bytes CallSlot::request() {
  return caller_->requests_->bytes().subspan(index_ * caller_->request_stride() + head_bytes,
                                             caller_->options_.request_bytes);
}

Caller::Caller(const Host& host, const CallerOptions& options,
               std::unique_ptr<fabric::CompletionQueue> sends)
    : host_(host),
      options_(options),
      sends_(std::move(sends)),
      request_bytes_(options.slots * request_stride()),
      reply_bytes_((options.slots + options.notices) * reply_stride()),
      flows_(host.runtime(), *sends_),
      free_(host.runtime(), options.slots),
      slots_(options.slots) {
  for (std::uint32_t index = 0; index < options.slots; ++index) {
    unused_.push_back(options.slots - 1 - index);
    slots_[index].round = options.first_round;
  }
}

Result<std::unique_ptr<Caller>> Caller::create(const Host& host, const CallerOptions& options) {
  REMORA_CHECK(options.slots > 0 && options.slots <= slot_mask, "slots out of range");
  const std::uint32_t buffers = options.slots + options.notices;
  const std::uint32_t sends = options.slots + options.operations;
  REMORA_TRY_RESULT(send_queue, host.device().create_completion_queue(sends));
  std::unique_ptr<Caller> caller(new Caller(host, options, std::move(send_queue).value()));
  REMORA_TRY_RESULT(receive_queue, host.device().create_completion_queue(buffers));
  caller->receives_ = std::move(receive_queue).value();
  caller->domain_ = host.device().create_domain();
  Result<std::unique_ptr<fabric::MemoryRegion>> requests =
      caller->domain_->register_memory(caller->request_bytes_, fabric::local_read);
  Result<std::unique_ptr<fabric::MemoryRegion>> replies =
      caller->domain_->register_memory(caller->reply_bytes_, fabric::local_write);
  if (!requests.ok() || !replies.ok()) {
    return requests.ok() ? replies.status() : requests.status();
  }
  caller->requests_ = std::move(requests).value();
  caller->replies_ = std::move(replies).value();
  REMORA_TRY_RESULT(queue_pair,
                    caller->domain_->create_queue_pair({.send_queue = caller->sends_.get(),
                                                        .receive_queue = caller->receives_.get(),
                                                        .max_sends = sends,
                                                        .max_receives = buffers}));
  caller->queue_pair_ = std::move(queue_pair).value();
  REMORA_TRY(caller->queue_pair_->initialise());
  for (std::uint32_t buffer = 0; buffer < buffers; ++buffer) {
    REMORA_TRY(caller->post_receive(buffer));
  }
  host.runtime().add_poller(*caller);
  return caller;
}

Caller::~Caller() = default;

Status Caller::connect(const fabric::QueuePairAddress& peer,
                       const fabric::ConnectOptions& options) {
  return queue_pair_->connect(peer, options);
}

Status Caller::post_receive(std::uint32_t buffer) {
  const fabric::Sge piece = replies_->piece(buffer * reply_stride(), reply_stride());
  const fabric::ReceiveWork work{.id = buffer, .pieces = std::span(&piece, 1)};
  return queue_pair_->post_receive(std::span(&work, 1));
}

// --- Calling ---

CallSlot Caller::take_slot() {
  const std::uint32_t index = unused_.back();
  unused_.pop_back();
  return CallSlot(*this, index);
}

std::uint32_t Caller::begin(CallSlot& slot) {
  Slot& state = slots_[slot.index_];
  if (state.buffer != no_buffer) {  // the reply of the call before is not needed any more
    fail(post_receive(std::exchange(state.buffer, no_buffer)));
  }
  do {  // rounds come round, and no call has the number 0
    state.call = ++state.round << slot_bits | slot.index_;
  } while (state.call == 0);
  state.code = Code::ok;
  state.answered = !failure_.ok();
  state.began_ns = host_.now_ns();
  state.waiter = nullptr;
  if (!watchdog_.armed()) {
    host_.runtime().arm(watchdog_, host_.runtime().after(options_.timeout_ns));
  }
  return state.call;
}

Task<Result<ConstBytes>> Caller::call(CallSlot& slot, Kind kind, std::size_t size_bytes) {
  REMORA_CHECK(size_bytes <= options_.request_bytes, "a request is longer than its slot");
  const std::uint32_t call = begin(slot);
  const std::size_t at = slot.index_ * request_stride();
  put_head(requests_->bytes().subspan(at),
           {.call = call, .kind = kind, .size_bytes = static_cast<std::uint32_t>(size_bytes)});
  host_.charge(Work::post);
  co_await host_.charged();
  // The reply comes after the acknowledgement or with it, so waiting for it first is waiting once.
  // What could not arrive fails the queue pair, which ends the wait for the reply.
  fabric::FlowSend send = flows_.send(*queue_pair_, requests_->piece(at, head_bytes + size_bytes));
  Slot& state = slots_[slot.index_];
  if (send.begin()) {
    co_await Answer(state);
  }
  const WorkCompletion sent = co_await send;
  if (sent.status != WorkStatus::success) {
    fail(Status(Code::closed,
                fmt::format("the server cannot be reached: {}", fabric::to_string(sent.status))));
  }
  state.call = 0;
  co_return result_of(state);
}

Task<Result<ConstBytes>> Caller::reply(CallSlot& slot) {
  Slot& state = slots_[slot.index_];
  co_await Answer(state);
  state.call = 0;
  co_return result_of(state);
}

Result<ConstBytes> Caller::result_of(const Slot& slot) const {
  if (slot.buffer == no_buffer) {
    return failure_;
  }
  const ConstBytes body =
      replies_->bytes().subspan(slot.buffer * reply_stride() + head_bytes, slot.size_bytes);
  if (slot.code != Code::ok) {
    return Status(slot.code, std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }
  return body;
}

void Caller::release(std::uint32_t index) {
  Slot& slot = slots_[index];
  slot.call = 0;
  if (slot.buffer != no_buffer) {
    fail(post_receive(std::exchange(slot.buffer, no_buffer)));
  }
  unused_.push_back(index);
  free_.release();
}

// --- Answers ---

bool Caller::poll() {
  const std::size_t count = receives_->poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    arrived(completions_[i]);
  }
  return count != 0;
}

void Caller::arrived(const WorkCompletion& completion) {
  const auto buffer = static_cast<std::uint32_t>(completion.id);
  if (completion.status != WorkStatus::success) {
    fail(Status(Code::closed, "the server has closed the connection, or is gone"));
    return;
  }
  const ConstBytes message =
      replies_->bytes().subspan(buffer * reply_stride(), completion.size_bytes);
  const std::optional<MessageHead> head = read_head(message);
  if (!head) {
    fail(Status(Code::closed, "the server sent a malformed message"));
    return;
  }
  if (head->call == 0) {
    if (on_notice_) {
      notice(buffer, *head);
    } else {
      early_.emplace_back(buffer, *head);
    }
    return;
  }
  const std::uint32_t index = head->call & slot_mask;
  if (index >= slots_.size() || slots_[index].call != head->call || slots_[index].answered) {
    fail(Status(Code::closed, "the server sent an answer to no request"));
    return;
  }
  Slot& slot = slots_[index];
  slot.buffer = buffer;
  slot.size_bytes = head->size_bytes;
  slot.code = static_cast<Code>(head->code);
  answer(slot);
}

void Caller::on_notice(OnNotice handler) {
  on_notice_ = std::move(handler);
  for (const auto& [buffer, head] : std::exchange(early_, {})) {
    notice(buffer, head);
  }
}

void Caller::notice(std::uint32_t buffer, const MessageHead& head) {
  on_notice_(head.kind,
             replies_->bytes().subspan(buffer * reply_stride() + head_bytes, head.size_bytes));
  fail(post_receive(buffer));
}

void Caller::answer(Slot& slot) {
  slot.answered = true;
  if (slot.waiter != nullptr) {
    host_.runtime().run_soon(*std::exchange(slot.waiter, nullptr));
  }
}

void Caller::fail(Status reason) {
  if (reason.ok() || !failure_.ok()) {
    return;
  }
  failure_ = std::move(reason);
  queue_pair_->fail();
  for (Slot& slot : slots_) {
    if (slot.call != 0 && !slot.answered) {
      answer(slot);
    }
  }
}

void Caller::look_at_clock() {
  std::uint64_t oldest_ns = never_ns;
  for (const Slot& slot : slots_) {
    if (slot.call != 0 && !slot.answered) {
      oldest_ns = std::min(oldest_ns, slot.began_ns);
    }
  }
  if (oldest_ns == never_ns) {
    return;
  }
  const std::uint64_t due_ns = oldest_ns + options_.timeout_ns;
  if (due_ns <= host_.now_ns()) {
    fail(Status(Code::timed_out, "the server did not answer in time"));
  } else {
    host_.runtime().arm(watchdog_, due_ns);
  }
}

}  // namespace remora::rpc
