// Completions: the completion queue of the software RNIC. A ring of fixed size; pushing and polling
// do not allocate.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fabric/device.h"

namespace remora::fabric::nic {

class Completions final : public CompletionQueue {
 public:
  // `overruns` counts the queues of a device that lost something; it outlives this.
  Completions(std::uint32_t capacity, std::uint32_t& overruns)
      : ring_(new Entry[std::bit_ceil(capacity)]),
        mask_(std::bit_ceil(capacity) - 1),
        capacity_(capacity),
        overruns_(overruns) {}

  std::size_t poll(std::span<WorkCompletion> out) override;
  void arm(bool solicited_only) override {
    armed_ = solicited_only ? Armed::for_solicited : Armed::for_any;
  }
  std::uint64_t event_count() const override { return events_; }
  bool overrun() const override { return overrun_; }

  // The device's side. What does not fit is lost, and the queue says so for good.
  void push(const WorkCompletion& completion, bool solicited = false) {
    const bool urgent = solicited || completion.status != WorkStatus::success;
    push_words(completion.id, second_word(completion), third_word(completion), urgent);
  }

  // The same, of a completion in the three words that it is in memory.
  [[gnu::always_inline]] void push_words(std::uint64_t id, std::uint64_t second,
                                         std::uint64_t third, bool urgent = false) {
    if (behind_ - first_ == capacity_) [[unlikely]] {
      lose();
      return;
    }
    Entry& entry = ring_[behind_ & mask_];
    entry.pair = Pair{id, second};
    entry.third = third;
    ++behind_;
    if (armed_ != Armed::no) [[unlikely]] {
      raise(urgent);
    }
  }
  static std::uint64_t second_word(const WorkCompletion& completion) {
    return static_cast<std::uint64_t>(completion.status) |
           static_cast<std::uint64_t>(completion.opcode) << 8 |
           static_cast<std::uint64_t>(completion.has_immediate) << 16 |
           std::uint64_t{completion.immediate} << 32;
  }
  static std::uint64_t third_word(const WorkCompletion& completion) {
    return std::uint64_t{completion.size_bytes} | std::uint64_t{completion.qp} << 32;
  }

 private:
  enum class Armed : std::uint8_t { no, for_any, for_solicited };

  // A completion is made, kept and taken out as a pair of words and a word: a load that is larger
  // than the stores before it waits until all of them have drained, those to the target's cold
  // memory too, and that costs more than all the rest.
  using Pair = std::uint64_t __attribute__((vector_size(16)));
  struct Entry {
    Pair pair;
    std::uint64_t third;
  };
  static_assert(sizeof(WorkCompletion) == 24 && offsetof(WorkCompletion, status) == 8 &&
                offsetof(WorkCompletion, opcode) == 9 &&
                offsetof(WorkCompletion, has_immediate) == 10 &&
                offsetof(WorkCompletion, immediate) == 12 &&
                offsetof(WorkCompletion, size_bytes) == 16 && offsetof(WorkCompletion, qp) == 20);

  void lose();
  void raise(bool urgent);

  const std::unique_ptr<Entry[]> ring_;
  const std::uint32_t mask_;
  const std::uint32_t capacity_;
  std::uint32_t first_ = 0;   // as many as were taken out,
  std::uint32_t behind_ = 0;  // and put in; the difference counts those in between
  std::uint32_t& overruns_;
  std::uint64_t events_ = 0;
  Armed armed_ = Armed::no;
  bool overrun_ = false;
};

}  // namespace remora::fabric::nic
