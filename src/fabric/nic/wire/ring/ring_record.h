// The memory of a ring: the words beside it, and what a record in it looks like. How it is used is
// in byte_ring.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace remora::fabric::nic::ring {

// The words that both sides share beside the data, on lines of their own: pairs of lines, since
// processors fetch those together. All zero is an empty ring.
struct RingControl {
  alignas(128) std::atomic<std::uint64_t> consumed;  // position of the consumer, told lazily
  alignas(128) std::atomic<std::uint32_t> consumer_sleeps;
  alignas(128) std::atomic<std::uint32_t> producer_sleeps;
};
static_assert(sizeof(RingControl) == 384);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

namespace byte_ring {

inline constexpr std::size_t size_word_bytes = sizeof(std::uint32_t);
inline constexpr std::uint32_t size_of_nothing = 0;
inline constexpr std::uint32_t size_of_skip = ~std::uint32_t{0};
inline constexpr std::uint32_t with_rider = std::uint32_t{1} << 31;  // added to a size
inline constexpr std::uint32_t with_loan = std::uint32_t{1} << 30;   // the same
inline constexpr std::size_t rider_bytes = 16;

// Where the payload of a record is that is lent; in the record's first line.
struct Loan {
  std::uint64_t offset = 0;
  std::uint32_t memory = 0;  // a number that both sides know
  std::uint32_t size_bytes = 0;
};
inline constexpr std::size_t loan_offset = 8;
inline constexpr std::size_t loan_word_offset = loan_offset + sizeof(Loan);  // 1: it is out
inline constexpr std::size_t loan_end = loan_word_offset + sizeof(std::uint32_t);
static_assert(sizeof(Loan) == 16);

// What a record holds: a packet, and perhaps a rider, or the loan of its payload.
struct Shape {
  std::uint32_t packet_bytes = 0;
  bool has_rider = false;
  bool has_loan = false;

  // Of a size word that is neither nothing nor a skip.
  static constexpr Shape of(std::uint32_t word) {
    return {word & ~(with_rider | with_loan), (word & with_rider) != 0, (word & with_loan) != 0};
  }
  constexpr std::uint32_t word() const {
    return packet_bytes | (has_rider ? with_rider : 0) | (has_loan ? with_loan : 0);
  }
  // Whether there is room for a loan beside the packet.
  constexpr bool may_lend() const { return !has_rider && packet_offset() >= loan_end; }

  constexpr std::size_t front_bytes() const {
    return size_word_bytes + (has_rider ? rider_bytes : 0);
  }
  // What it takes in the ring.
  constexpr std::size_t record_bytes() const {
    return round_up(front_bytes() + packet_bytes, cache_line_bytes);
  }
  // Where the packet begins in its record.
  constexpr std::size_t packet_offset() const {
    return packet_bytes <= cache_line_bytes - front_bytes() ? front_bytes()
                                                            : record_bytes() - packet_bytes;
  }
};

// What a packet that is alone takes in the ring, and where it begins there.
constexpr std::size_t record_bytes(std::size_t packet_bytes) {
  return Shape{static_cast<std::uint32_t>(packet_bytes)}.record_bytes();
}
constexpr std::size_t packet_offset(std::size_t packet_bytes) {
  return Shape{static_cast<std::uint32_t>(packet_bytes)}.packet_offset();
}

// Whether a ring of this capacity can always carry packets of this size in the end.
constexpr bool fits(std::size_t packet_bytes, std::size_t capacity_bytes) {
  return record_bytes(packet_bytes) <= capacity_bytes / 8 * 3;
}

// What is loaded or stored before it is so before all that is behind it.
inline void fence() {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}
// What is loaded before it is so before all that is behind it.
inline void fence_loads() {
#if !defined(__SANITIZE_THREAD__)
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
}

inline std::atomic_ref<std::uint32_t> size_word(Bytes data, std::size_t offset) {
  return std::atomic_ref(*reinterpret_cast<std::uint32_t*>(data.data() + offset));
}

// Whether the other side said that it sleeps. It is told so once: whoever gets true wakes it. The
// read-modify-write orders this after all that was published before.
inline bool take_sleeper(std::atomic<std::uint32_t>& sleeps) {
  return sleeps.fetch_add(0, std::memory_order_acq_rel) != 0 &&
         sleeps.exchange(0, std::memory_order_acq_rel) != 0;
}

}  // namespace byte_ring

}  // namespace remora::fabric::nic::ring
