// Slots: memory that a peer WRITEs messages into, one for each call that may be in flight, and that
// the other side looks at. A message lies at the end of its slot: the body, filled up to whole
// words, then the tail. Its last word names the call, so it differs from the word that was there
// before, and appears after all other bytes (P4 of fabric/queue_pair.h): who has seen it has the
// message.
//
// One thread, the loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "fabric/device.h"
#include "pmem/region.h"
#include "rpc/message.h"

namespace remora::rpc {

struct SlotTail {
  Kind kind = 0;
  std::uint16_t code = 0;   // of an answer: a Code
  std::uint16_t flags = 0;  // of a request: a design's own
  std::uint16_t attempt = 0;
  std::uint32_t size_bytes = 0;  // of the body
  std::uint32_t call = 0;
};
static_assert(sizeof(SlotTail) == 16);

// The last word of a tail: size, attempt and call, as one load sees them.
inline constexpr std::uint32_t attempt_bits = 8;
inline constexpr std::uint32_t slot_body_max = (1u << (32 - attempt_bits)) - 1;
constexpr std::uint32_t call_of_word(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

// Whole words for a body of this size; and the message with its tail.
constexpr std::size_t filled(std::size_t body_bytes) {
  return (body_bytes + 7) / 8 * 8;
}
constexpr std::size_t slot_message_bytes(std::size_t body_bytes) {
  return filled(body_bytes) + sizeof(SlotTail);
}
// A slot for bodies of up to so many bytes: whole cache lines.
constexpr std::size_t slot_bytes_for(std::size_t body_bytes) {
  return (slot_message_bytes(body_bytes) + 63) / 64 * 64;
}

// Makes a message of a body that lies at the start of `memory`; returns its size, from there on.
std::size_t compose(Bytes memory, const SlotTail& tail);

// A side's slots, all zero at first: no call.
class Slots {
 public:
  Slots() = default;
  Slots(Slots&& other) noexcept { *this = std::move(other); }
  // What was here goes with the other, in the right order.
  Slots& operator=(Slots&& other) noexcept {
    std::swap(window_, other.window_);
    std::swap(slot_bytes_, other.slot_bytes_);
    std::swap(region_, other.region_);
    std::swap(memory_, other.memory_);
    return *this;
  }
  static Result<Slots> create(fabric::ProtectionDomain& domain, std::uint32_t window,
                              std::size_t body_bytes, fabric::AccessFlags access);

  bool empty() const { return memory_ == nullptr; }
  std::uint32_t window() const { return window_; }
  std::size_t slot_bytes() const { return slot_bytes_; }
  fabric::MemoryRegion& memory() { return *memory_; }
  fabric::RemoteAddress remote() const { return memory_->remote(0); }

  Bytes slot(std::uint32_t index) const {
    return memory_->bytes().subspan(index * slot_bytes_, slot_bytes_);
  }
  // The last word, with whatever came before it.
  std::uint64_t word(std::uint32_t index) const;
  // The eight bytes of it, for those who watch.
  ConstBytes word_bytes(std::uint32_t index) const { return slot(index).last(8); }

  // What lies in the slot. The tail is a copy; nothing, where it makes no sense.
  struct Message {
    SlotTail tail;
    ConstBytes body;
  };
  std::optional<Message> message(std::uint32_t index) const;

 private:
  std::uint32_t window_ = 0;
  std::size_t slot_bytes_ = 0;
  std::unique_ptr<Region> region_;
  std::unique_ptr<fabric::MemoryRegion> memory_;
};

// Whether the message of this call is there, for those who watch its word.
struct SlotHolds {
  const Slots& slots;
  std::uint32_t index;
  std::uint32_t call;
  bool operator()() const { return call_of_word(slots.word(index)) == call; }
};

// Where a message of this size goes in a peer's slot.
inline fabric::RemoteAddress place_in_slot(const fabric::RemoteAddress& slots,
                                           std::uint64_t slot_bytes, std::uint32_t index,
                                           std::size_t message_bytes) {
  return {slots.address + (index + 1) * slot_bytes - message_bytes, slots.key};
}

}  // namespace remora::rpc
