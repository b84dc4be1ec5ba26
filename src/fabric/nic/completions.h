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
    close();
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
    if (Entry* const entry = next(urgent)) [[likely]] {
      entry->pair = Pair{id, second};
      entry->third = third;
      entry->mark = holds;
    }
  }

  // The same in fewer steps, if nothing waits to be polled and nobody to be told.
  bool is_idle() const { return front_.mark == 0; }

#ifdef REMORA_HAS_WIDE_COMPLETIONS
  // The same of a success, by one store; where moves_lines() says so.
  using Words = std::array<std::uint64_t, 4>;  // see all_but_id
  [[gnu::always_inline]] void push_wide(const std::uint64_t& id, const Words& rest) {
    if (Entry* const entry = next(false)) [[likely]] {
      put(*entry, id, rest);
    }
  }
  [[gnu::always_inline]] void push_wide_alone(const std::uint64_t& id, const Words& rest) {
    put(front_, id, rest);
  }
#endif
  static std::array<std::uint64_t, 4> all_but_id(const WorkCompletion& completion) {
    return {0, second_word(completion), third_word(completion), holds};
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
  struct alignas(32) Entry {
    Pair pair;
    std::uint64_t third;
    std::uint64_t mark;
  };
  static_assert(sizeof(WorkCompletion) == 24 && offsetof(WorkCompletion, status) == 8 &&
                offsetof(WorkCompletion, opcode) == 9 &&
                offsetof(WorkCompletion, has_immediate) == 10 &&
                offsetof(WorkCompletion, immediate) == 12 &&
                offsetof(WorkCompletion, size_bytes) == 16 && offsetof(WorkCompletion, qp) == 20);

  // What the mark of the front says. One of an entry in the ring says nothing.
  static constexpr std::uint64_t holds = 1;   // a completion, the oldest of all
  static constexpr std::uint64_t closed = 2;  // the next one goes into the ring

  // Where the next one goes; null if it is lost.
  [[gnu::always_inline]] Entry* next(bool urgent) {
    if (front_.mark == 0) [[likely]] {
      return &front_;
    }
    close();
    if (behind_ == limit_) [[unlikely]] {
      lose();
      return nullptr;
    }
    Entry& entry = ring_[behind_ & mask_];
    ++behind_;
    if (armed_ != Armed::no) [[unlikely]] {
      raise(urgent);
    }
    return &entry;
  }
  // What comes from here on goes into the ring, which has room for one less while the front holds.
  [[gnu::always_inline]] void close() {
    if ((front_.mark & closed) == 0) {
      limit_ -= static_cast<std::uint32_t>(front_.mark & holds);
      front_.mark |= closed;
    }
  }
#ifdef REMORA_HAS_WIDE_COMPLETIONS
  [[gnu::always_inline]] static void put(Entry& entry, const std::uint64_t& id, const Words& rest) {
    // A register that code for any x86-64 does not know of: nothing else is in it.
    asm volatile(
        "vmovq %[id], %%xmm16\n\t"
        "vporq %[rest], %%ymm16, %%ymm16\n\t"
        "vmovdqu64 %%ymm16, %[to]"
        : [to] "=m"(entry)
        : [id] "m"(id), [rest] "m"(rest)
#ifdef __AVX512F__
        : "xmm16"
#endif
    );
  }
#endif
  static void copy_out(const Entry& entry, WorkCompletion& out);
  std::size_t poll_any(std::span<WorkCompletion> out);
  void lose();
  void raise(bool urgent);

  // The only one, or the one before all in the ring. Where each is polled before the next comes,
  // all of them are put here, and nothing has to be counted.
  Entry front_ = {};
  const std::unique_ptr<Entry[]> ring_;
  const std::uint32_t mask_;
  const std::uint32_t capacity_;
  // As many as were put into the ring, and how many that may be: the capacity more than were taken
  // out of it.
  std::uint32_t behind_ = 0;
  std::uint32_t limit_;
  std::uint32_t& overruns_;
  std::uint64_t events_ = 0;
  Armed armed_ = Armed::no;
  bool overrun_ = false;
};

}  // namespace remora::fabric::nic
