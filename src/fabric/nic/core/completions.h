// Completions: the completion queue of the software RNIC. A ring of fixed size; pushing and polling
// do not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fabric/device.h"

namespace remora::fabric::nic {

class Completions final : public CompletionQueue {
 public:
  // `overruns` counts the queues of a device that lost something; it outlives this.
  Completions(std::uint32_t capacity, std::uint32_t& overruns)
      : ring_(new Words[capacity]), capacity_(capacity), overruns_(overruns) {}

  std::size_t poll(std::span<WorkCompletion> out) override;
  void arm(bool solicited_only) override {
    armed_ = solicited_only ? Armed::for_solicited : Armed::for_any;
  }
  std::uint64_t event_count() const override { return events_; }
  bool overrun() const override { return overrun_; }

  // The device's side. What does not fit is lost, and the queue says so for good.
  void push(const WorkCompletion& completion, bool solicited = false) {
    if (count_ == capacity_) [[unlikely]] {
      overruns_ += overrun_ ? 0 : 1;
      overrun_ = true;
      return;
    }
    const std::uint32_t behind = first_ + count_;
    ring_[behind < capacity_ ? behind : behind - capacity_] = words_of(completion);
    ++count_;
    const bool urgent = solicited || completion.status != WorkStatus::success;
    if (armed_ == Armed::for_any || (armed_ == Armed::for_solicited && urgent)) {
      armed_ = Armed::no;
      ++events_;
    }
  }

 private:
  enum class Armed : std::uint8_t { no, for_any, for_solicited };

  // A completion as the three words that it is in memory. It is made, kept and taken out in these:
  // a load that is larger than the stores before it waits until all of them have drained, those to
  // the target's cold memory too, and that costs more than all the rest.
  using Words = std::array<std::uint64_t, 3>;
  static_assert(sizeof(WorkCompletion) == sizeof(Words) && offsetof(WorkCompletion, status) == 8 &&
                offsetof(WorkCompletion, opcode) == 9 &&
                offsetof(WorkCompletion, has_immediate) == 10 &&
                offsetof(WorkCompletion, immediate) == 12 &&
                offsetof(WorkCompletion, size_bytes) == 16 && offsetof(WorkCompletion, qp) == 20);
  static Words words_of(const WorkCompletion& completion) {
    return {completion.id,
            static_cast<std::uint64_t>(completion.status) |
                static_cast<std::uint64_t>(completion.opcode) << 8 |
                static_cast<std::uint64_t>(completion.has_immediate) << 16 |
                std::uint64_t{completion.immediate} << 32,
            std::uint64_t{completion.size_bytes} | std::uint64_t{completion.qp} << 32};
  }

  const std::unique_ptr<Words[]> ring_;
  const std::uint32_t capacity_;
  std::uint32_t& overruns_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::uint64_t events_ = 0;
  Armed armed_ = Armed::no;
  bool overrun_ = false;
};

}  // namespace remora::fabric::nic
