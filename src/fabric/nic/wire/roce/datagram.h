// Datagrams as they come from a socket: several in one piece of memory, all of one size but the
// last, from anybody. Each is a packet and its invariant checksum, or is dropped.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "fabric/nic/wire/roce/icrc.h"

namespace remora::fabric::nic::roce {

class Datagrams {
 public:
  Datagrams() = default;
  // segment_bytes is not 0.
  Datagrams(ConstBytes bytes, std::size_t segment_bytes)
      : rest_(bytes), segment_bytes_(segment_bytes) {}

  bool empty() const { return rest_.empty(); }
  std::size_t count() const { return (rest_.size() + segment_bytes_ - 1) / segment_bytes_; }
  // How many were taken before: the identification of the next, if all were sent by one call.
  std::uint16_t taken() const { return taken_; }
  ConstBytes take() {
    const ConstBytes next = rest_.first(std::min(segment_bytes_, rest_.size()));
    rest_ = rest_.subspan(next.size());
    ++taken_;
    return next;
  }

 private:
  ConstBytes rest_;
  std::size_t segment_bytes_ = 1;
  std::uint16_t taken_ = 0;
};

enum class Verdict : std::uint8_t { packet, malformed, bad_icrc };

// What the receiver knows of the sender.
struct Origin {
  Icrc::Path path = 0;
  bool rxe_flush_icrc = false;
};

// Whether the checksum of this packet is the one of Linux's rxe; see Icrc::twice.
bool has_odd_icrc(bool rxe_flush_icrc, ConstBytes packet);

// What a datagram is. As a packet it is parsed without its last four bytes.
Verdict judge_datagram(const Icrc& icrc, std::size_t largest_packet_bytes, const Origin& origin,
                       ConstBytes datagram, std::uint16_t guess);

}  // namespace remora::fabric::nic::roce
