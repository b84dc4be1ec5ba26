#include "rpc/designs/datagram_answers.h"

#include <utility>

#include "runtime/system_random.h"

namespace remora::rpc {

DatagramAnswers::DatagramAnswers(const Host& host, const DesignOptions& options,
                                 std::unique_ptr<DatagramEnd> end)
    : host_(host), end_(std::move(end)), token_(random_word()), waits_(options.window) {
  host_.runtime().add_poller(*this);
}

Result<std::unique_ptr<DatagramAnswers>> DatagramAnswers::create(const Host& host,
                                                                 const DesignOptions& options) {
  // An answer may come twice, while that of the call before still lies there.
  REMORA_TRY_RESULT(end, DatagramEnd::create(host.device(), {.receives = 4 * options.window,
                                                             .buffers = 2 * options.window,
                                                             .body_bytes = options.body_bytes}));
  return std::unique_ptr<DatagramAnswers>(
      new DatagramAnswers(host, options, std::move(end).value()));
}

void DatagramAnswers::introduce(Introduction& ours) const {
  ours.datagrams = end_->address();
  ours.queue_key = end_->key();
  ours.token = token_;
}

void DatagramAnswers::expect(std::uint32_t slot, std::uint32_t call) {
  Wait& wait = waits_[slot];
  wait.call = call;
  if (wait.buffer != no_buffer) {
    (void)end_->release(std::exchange(wait.buffer, no_buffer));
  }
}

bool DatagramAnswers::poll() {
  (void)end_->collect();
  const std::size_t count = end_->poll(buffers_);
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<DatagramEnd::Message> message = end_->message(buffers_[i]);
    const std::uint32_t slot = message ? message->head.call & slot_mask : slot_mask;
    if (slot >= waits_.size() || message->token != token_ ||
        message->head.call != waits_[slot].call || waits_[slot].buffer != no_buffer) {
      (void)end_->release(buffers_[i]);
      continue;
    }
    waits_[slot].buffer = buffers_[i];
    host_.runtime().placed(std::as_bytes(std::span(&waits_[slot], 1)));
  }
  return count != 0;
}

Task<bool> DatagramAnswers::wait(std::uint32_t slot, std::uint64_t deadline_ns) {
  const Wait& wait = waits_[slot];
  co_return co_await host_.runtime().watch(std::as_bytes(std::span(&wait, 1)), Came{wait},
                                           deadline_ns);
}

}  // namespace remora::rpc
