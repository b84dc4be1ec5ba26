#include "rpc/designs/imm_client.h"

namespace remora::rpc {

Status ImmClient::open() {
  REMORA_TRY(SlotClient::open({.receives = 2 * options_.window}));
  host_.runtime().add_poller(*this);
  return {};
}

// The answer to the call of that slot has come, or nothing will any more.
bool ImmClient::poll() {
  const std::size_t count = receives().poll(completions_);
  for (std::size_t i = 0; i < count; ++i) {
    const fabric::WorkCompletion& completion = completions_[i];
    const fabric::ReceiveWork again{.id = completion.id};
    if (completion.status != fabric::WorkStatus::success ||
        completion.opcode != fabric::Opcode::receive_imm ||
        completion.immediate >= options_.window ||
        !pair().post_receive(std::span(&again, 1)).ok()) {
      (void)failed(Status(Code::closed, "the server has closed the connection, or is gone"));
      for (std::uint64_t& answered : answered_) {
        ++answered;
      }
      host_.runtime().placed(std::as_bytes(std::span(answered_)));
      return true;
    }
    std::uint64_t& answered = answered_[completion.immediate];
    ++answered;
    host_.runtime().placed(std::as_bytes(std::span(&answered, 1)));
  }
  return count != 0;
}

Task<Result<ConstBytes>> ImmClient::exchange(std::uint32_t slot, Kind kind,
                                             std::size_t size_bytes) {
  const fabric::Sge request = message(slot, {.kind = kind,
                                             .size_bytes = static_cast<std::uint32_t>(size_bytes),
                                             .call = next_call(slot)});
  const std::uint64_t& answered = answered_[slot];
  const std::uint64_t before = answered;
  co_await ready();
  const fabric::WorkCompletion written =
      co_await flows().write_imm(pair(), request, place(slot, request), slot);
  if (written.status != fabric::WorkStatus::success) {
    co_return unreachable(written);
  }
  const bool came = co_await host_.runtime().watch(std::as_bytes(std::span(&answered, 1)),
                                                   Changed{answered, before}, deadline_ns());
  if (!failure().ok()) {
    co_return failure();
  }
  if (!came) {
    co_return unanswered();
  }
  host_.charge(Work::poll);
  co_await host_.charged();
  co_return answer_of(slot);
}

}  // namespace remora::rpc
