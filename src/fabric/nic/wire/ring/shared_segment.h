// SharedSegment: the memory of one link, mapped by both of its ends: two rings and the words beside
// them. It is a memfd with no name, so nothing is left of it when both processes are gone, however
// they went; it is sealed against shrinking and growing, so that no access to it can fault.
//
//   0      SegmentHead        (one page)
//   4096   data of ring 0     (ring_bytes; from the connector to the listener)
//   +      data of ring 1     (ring_bytes; the other way)
//
// One thread. Making one and adopting one call the system and touch every page.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/descriptor.h"
#include "fabric/nic/wire/ring/byte_ring.h"

namespace remora::fabric::nic::ring {

struct SegmentHead {
  alignas(128) std::atomic<std::uint32_t> revoked;  // not 0: one side has cut the other off
  RingControl rings[2];
};
static_assert(offsetof(SegmentHead, rings) == 128 && sizeof(SegmentHead) <= page_bytes);

// Whether this is memory that nobody can cut short: reading and writing it never faults.
bool is_sealed_memory(int descriptor);

class SharedSegment {
 public:
  // Makes the memory: all zero, sealed, mapped. The descriptor is for the peer.
  static Result<SharedSegment> create(std::uint32_t ring_bytes);

  // Maps what a peer made, unless it could be pulled away later or has another size than was said:
  // permission_denied or invalid_argument. Takes the descriptor in any case.
  static Result<SharedSegment> adopt(Descriptor memory, std::uint32_t ring_bytes);

  SharedSegment(SharedSegment&& other) noexcept
      : memory_(std::move(other.memory_)),
        base_(std::exchange(other.base_, nullptr)),
        ring_bytes_(other.ring_bytes_) {}
  SharedSegment& operator=(SharedSegment&&) = delete;
  ~SharedSegment();

  static constexpr std::size_t size_bytes(std::uint32_t ring_bytes) {
    return page_bytes + 2 * std::size_t{ring_bytes};
  }

  std::uint32_t ring_bytes() const { return ring_bytes_; }
  int descriptor() const { return memory_.number(); }
  // The mapping stays; the descriptor is needed no more once the peer has its own.
  void close_descriptor() { memory_.close(); }

  SegmentHead& head() { return *reinterpret_cast<SegmentHead*>(base_); }
  Bytes ring_data(std::size_t ring) {
    return {base_ + page_bytes + ring * std::size_t{ring_bytes_}, ring_bytes_};
  }

 private:
  SharedSegment(Descriptor memory, std::byte* base, std::uint32_t ring_bytes)
      : memory_(std::move(memory)), base_(base), ring_bytes_(ring_bytes) {}
  static Result<SharedSegment> map(Descriptor memory, std::uint32_t ring_bytes);

  Descriptor memory_;
  std::byte* base_;
  std::uint32_t ring_bytes_;
};

}  // namespace remora::fabric::nic::ring
