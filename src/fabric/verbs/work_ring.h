// WorkRing: what was posted to one queue of a device and has not completed, oldest first; and
// WorkName: the 64 bits by which libibverbs tells about a request. The caller's own id, and what a
// failed completion does not say (which queue, which opcode), stand here.
//
// Requests of one queue complete in the order posted, and a completion vouches for the unsignalled
// ones before it: taking one takes those with it. All memory is taken when it is made.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/types.h"

namespace remora::fabric::verbs {

struct WorkName {
  std::uint32_t sequence = 0;    // how many were posted to the queue before it
  std::uint16_t slot = 0;        // of the queue pair in its device
  std::uint16_t generation = 0;  // 15 bits: of the queue pair in that slot
  bool receive = false;

  static constexpr std::uint16_t generation_mask = 0x7fff;
  // What is named is a receive of the shared queue in that slot, and the sequence its place there.
  static constexpr std::uint16_t shared_generation = 0x7fff;

  std::uint64_t packed() const {
    return std::uint64_t{sequence} | std::uint64_t{slot} << 32 |
           std::uint64_t{static_cast<std::uint16_t>(generation & generation_mask)} << 48 |
           std::uint64_t{receive} << 63;
  }
  static WorkName from(std::uint64_t packed) {
    return {.sequence = static_cast<std::uint32_t>(packed),
            .slot = static_cast<std::uint16_t>(packed >> 32),
            .generation = static_cast<std::uint16_t>(packed >> 48 & generation_mask),
            .receive = packed >> 63 != 0};
  }
};

struct PostedWork {
  std::uint64_t id = 0;
  std::uint32_t size_bytes = 0;  // of what it brings: READ and atomics
  Opcode opcode = Opcode::send;
  std::uint8_t pieces = 0;  // that the device takes by their keys
  bool signalled = true;    // the caller is told of success
  bool refused = false;  // made so that the device refuses it, for a responder that would have to
};

class WorkRing {
 public:
  explicit WorkRing(std::uint32_t capacity)
      : capacity_(capacity),
        mask_(std::bit_ceil(capacity == 0 ? 1 : capacity) - 1),
        entries_(mask_ + 1) {}

  std::uint32_t room() const { return capacity_ - (tail_ - head_); }
  std::uint32_t next() const { return tail_; }
  void push(const PostedWork& work) { entries_[tail_++ & mask_] = work; }
  // The last so many were not posted after all.
  void take_back(std::uint32_t count) { tail_ -= count; }

  // The request of this sequence number, which has completed, and with it all before it. Nothing
  // when there is no such request.
  std::optional<PostedWork> take(std::uint32_t sequence) {
    if (sequence - head_ >= tail_ - head_) {
      return std::nullopt;
    }
    head_ = sequence + 1;
    return entries_[sequence & mask_];
  }
  void clear() { head_ = tail_; }
  // Where the one of this sequence number lies, of as many as slots_of(capacity).
  std::uint32_t place(std::uint32_t sequence) const { return sequence & mask_; }
  static std::uint32_t slots_of(std::uint32_t capacity) {
    return std::bit_ceil(capacity == 0 ? 1 : capacity);
  }

 private:
  const std::uint32_t capacity_;
  const std::uint32_t mask_;
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::vector<PostedWork> entries_;
};

}  // namespace remora::fabric::verbs
