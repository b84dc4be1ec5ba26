// Completions: the completion queue of a verbs device. Its events come by the device's channel.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <span>

#include "fabric/device.h"

namespace remora::fabric::verbs {

class Context;

class Completions final : public CompletionQueue {
 public:
  static Result<std::unique_ptr<CompletionQueue>> create(Context& context, std::uint32_t capacity);
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions() override;

  std::size_t poll(std::span<WorkCompletion> out) override;
  void arm(bool solicited_only) override;
  std::uint64_t event_count() const override;
  bool overrun() const override;

  ibv_cq* queue() const { return queue_; }
  void set_overrun() { overrun_ = true; }
  // An event of this queue has come by the channel. It counts once for each arm(); others are no
  // more than what woke the loop.
  void note_event() {
    events_ += asked_ ? 1 : 0;
    asked_ = armed_ = false;
  }
  // Asks for an event at the next completion, whichever; returns false when that was done already.
  bool arm_wake();

 private:
  explicit Completions(Context& context) : context_(context) {}
  std::size_t translate(std::span<const ibv_wc> from, std::span<WorkCompletion> out);

  static constexpr int polled_at_once = 32;

  Context& context_;
  ibv_cq* queue_ = nullptr;
  std::uint64_t events_ = 0;
  bool asked_ = false;  // by arm(), and no event has come since
  bool armed_ = false;  // for every completion, and no event has come since
  bool overrun_ = false;
};

}  // namespace remora::fabric::verbs
