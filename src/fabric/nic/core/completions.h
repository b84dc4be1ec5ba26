// Completions: the completion queue of the software RNIC. A ring of fixed size; pushing and polling
// do not allocate.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fabric/device.h"

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define REMORA_HAS_WIDE_COMPLETIONS 1
#endif

namespace remora::fabric::nic {

class Completions final : public CompletionQueue {
 public:
  // `overruns` counts the queues of a device that lost something; it outlives this.
  Completions(std::uint32_t capacity, std::uint32_t& overruns)
      : ring_(new Entry[std::bit_ceil(capacity)]),
        mask_(std::bit_ceil(capacity) - 1),
        capacity_(capacity),
        limit_(capacity),
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
    if (behind_ == limit_) [[unlikely]] {
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

#ifdef REMORA_HAS_WIDE_COMPLETIONS
  // The same of a success, by one store; where is_wide_here() says so.
  using Words = std::array<std::uint64_t, 4>;  // an id of zero, the other two, and a zero
  [[gnu::always_inline]] void push_wide(const std::uint64_t& id, const Words& all_but_id) {
    if (behind_ == limit_) [[unlikely]] {
      lose();
      return;
    }
    // A register that code for any x86-64 does not know of: nothing else is in it.
    asm volatile(
        "vmovq %[id], %%xmm16\n\t"
        "vporq %[rest], %%ymm16, %%ymm16\n\t"
        "vmovdqu64 %%ymm16, %[to]"
        : [to] "=m"(ring_[behind_ & mask_])
        : [id] "m"(id), [rest] "m"(all_but_id)
#ifdef __AVX512F__
        : "xmm16"
#endif
    );
    ++behind_;
    if (armed_ != Armed::no) [[unlikely]] {
      raise(false);
    }
  }
#endif
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
  struct alignas(32) Entry {
    Pair pair;
    std::uint64_t third;
  };
  static_assert(sizeof(WorkCompletion) == 24 && offsetof(WorkCompletion, status) == 8 &&
                offsetof(WorkCompletion, opcode) == 9 &&
                offsetof(WorkCompletion, has_immediate) == 10 &&
                offsetof(WorkCompletion, immediate) == 12 &&
                offsetof(WorkCompletion, size_bytes) == 16 && offsetof(WorkCompletion, qp) == 20);

  void copy_out(std::uint32_t number, WorkCompletion& out) const;
  void lose();
  void raise(bool urgent);

  const std::unique_ptr<Entry[]> ring_;
  const std::uint32_t mask_;
  const std::uint32_t capacity_;
  // As many as were put in, and how many that may be: the capacity more than were taken out.
  std::uint32_t behind_ = 0;
  std::uint32_t limit_;
  std::uint32_t& overruns_;
  std::uint64_t events_ = 0;
  Armed armed_ = Armed::no;
  bool overrun_ = false;
};

}  // namespace remora::fabric::nic
