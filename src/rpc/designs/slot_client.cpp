#include "rpc/designs/slot_client.h"

#include <fmt/format.h>

#include <utility>

namespace remora::rpc {

Status SlotClient::open(const Needs& needs) {
  // As many requests as a call of any design posts at once.
  const std::uint32_t sends = 4 * options_.window + 4;
  fabric::Device& device = host_.device();
  REMORA_TRY_RESULT(send_queue, device.create_completion_queue(sends));
  sends_ = std::move(send_queue).value();
  REMORA_TRY_RESULT(receive_queue, device.create_completion_queue(std::max(needs.receives, 1u)));
  receives_ = std::move(receive_queue).value();
  domain_ = device.create_domain();
  request_memory_.resize(options_.window * slot_bytes());
  REMORA_TRY_RESULT(requests, domain_->register_memory(request_memory_, needs.request_access));
  requests_ = std::move(requests).value();
  if (needs.answer_slots) {
    REMORA_TRY_RESULT(answers, Slots::create(*domain_, options_.window, options_.body_bytes,
                                             fabric::local_write | fabric::remote_write));
    answers_ = std::move(answers).value();
  }
  REMORA_TRY_RESULT(queue_pair,
                    domain_->create_queue_pair({.send_queue = sends_.get(),
                                                .receive_queue = receives_.get(),
                                                .max_sends = sends,
                                                .max_receives = std::max(needs.receives, 1u),
                                                .transport = needs.transport}));
  queue_pair_ = std::move(queue_pair).value();
  REMORA_TRY(queue_pair_->initialise());
  for (std::uint32_t i = 0; i < needs.receives; ++i) {
    const fabric::ReceiveWork work{.id = i};
    REMORA_TRY(queue_pair_->post_receive(std::span(&work, 1)));
  }
  flows_ = std::make_unique<fabric::FlowQueue>(host_.runtime(), *sends_);
  return {};
}

Introduction SlotClient::introduction() const {
  Introduction ours{.queue_pair = queue_pair_->address(),
                    .window = options_.window,
                    .slot_bytes = static_cast<std::uint32_t>(slot_bytes())};
  if (!answers_.empty()) {
    ours.slots = answers_.remote();
  }
  return ours;
}

Status SlotClient::connect(const Introduction& server) {
  if (server.window != options_.window || server.slot_bytes != slot_bytes()) {
    return Status(Code::invalid_argument,
                  "the server has another window or other slots; give both sides the same");
  }
  server_ = server;
  return queue_pair_->connect(server.queue_pair, options_.connect);
}

Task<Result<ConstBytes>> SlotClient::answer_in(std::uint32_t slot) {
  const bool came = co_await host_.runtime().watch(
      answers_.word_bytes(slot), SlotHolds{answers_, slot, call_of(slot)}, deadline_ns());
  if (!came) {
    co_return unanswered();
  }
  host_.charge(Work::poll);
  co_await host_.charged();
  co_return answer_of(slot);
}

Result<ConstBytes> SlotClient::answer_of(std::uint32_t slot) {
  const std::optional<Slots::Message> message = answers_.message(slot);
  if (!message || message->tail.call != call_of(slot)) {
    return failed(Status(Code::closed, "the server sent a malformed answer"));
  }
  return answer(message->tail.code, message->body);
}

Status SlotClient::unreachable(const fabric::WorkCompletion& completion) {
  return failed(Status(Code::closed, fmt::format("the server cannot be reached: {}",
                                                 fabric::to_string(completion.status))));
}

Status SlotClient::unanswered() {
  return failed(Status(Code::timed_out, "the server did not answer in time"));
}

}  // namespace remora::rpc
