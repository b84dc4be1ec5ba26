// Completions: the completion queue of a verbs device, with a channel for its events.
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
  // Readable when an event has come that was armed for.
  int descriptor() const { return channel_->fd; }

 private:
  explicit Completions(Context& context) : context_(context) {}
  std::size_t translate(std::span<const ibv_wc> from, std::span<WorkCompletion> out);

  static constexpr int polled_at_once = 32;

  Context& context_;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* queue_ = nullptr;
  mutable std::uint64_t events_ = 0;
  bool overrun_ = false;
};

}  // namespace remora::fabric::verbs
