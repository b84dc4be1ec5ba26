// Icrc: the invariant checksum at the end of a RoCEv2 packet. It is CRC-32 (that of Ethernet) over
// eight bytes of ones, the IP and UDP headers, and the packet, with all that routers may change set
// to ones: IPv4's type of service, time to live and checksum; IPv6's class, flow label and hop
// limit; UDP's checksum; byte 4 of the base header.
//
// IPv4's identification is covered too. A socket that is not connected and forbids fragments sends
// 0, and the kernel numbers the segments of one call from there; but nobody tells the receiver. So
// `matches` works out which identification would make the checksum right, and takes any that is
// possible: 16 of the 32 bits are then left to tell right from wrong, beside UDP's own checksum.
// With IPv6, and when the guess was right, all 32 do.
//
// The headers never exist here. A CRC is linear, so what addresses, ports, lengths and
// identification do to it is looked up in tables, which are made once.
//
// Immutable; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"

namespace remora::fabric::nic::roce {

class Icrc {
 public:
  enum class Family : std::uint8_t { v4, v6 };

  // For packets of up to this size.
  Icrc(Family family, std::size_t largest_packet_bytes);

  // What is the same in all packets from one endpoint to another.
  using Path = std::uint32_t;
  Path path(const IpEndpoint& from, const IpEndpoint& to) const;

  // Of a packet, from base header to padding, in a datagram with this identification. Its size is a
  // multiple of four from 12 up to the largest.
  std::uint32_t of(Path path, ConstBytes packet, std::uint16_t identification) const;

  // The same of a packet that is not complete: its last bytes become a copy of this payload.
  std::uint32_t of_copied(Path path, Bytes packet, ConstBytes payload,
                          std::uint16_t identification) const;

  // Whether a packet that came has the right one. The guess at the identification costs less when
  // it is right.
  bool matches(Path path, ConstBytes packet, std::uint32_t icrc, std::uint16_t guess) const;

  // What Linux's rxe puts on a FLUSH instead: it takes the packet a second time, unmasked. It is
  // `twice` of the right one.
  static std::uint32_t twice(std::uint32_t icrc, ConstBytes packet);
  bool matches_twice(Path path, ConstBytes packet, std::uint32_t icrc, std::uint16_t guess) const;

 private:
  static constexpr std::size_t bytes_per_entry = 4;

  bool is_identification(std::uint32_t difference, std::size_t packet_size) const;
  std::uint32_t effect_of(std::uint16_t identification) const {
    return low_[identification & 0xff] ^ high_[identification >> 8];
  }

  Family family_;
  std::vector<std::uint32_t> lengths_;   // by packet bytes: the lengths in IP and UDP header
  std::vector<std::uint32_t> masks_;     // by packet bytes: byte 4 becomes ones
  std::vector<std::uint32_t> backward_;  // by packet bytes: what takes a difference back to the id
  std::array<std::uint32_t, 256> low_;   // bytes of the identification
  std::array<std::uint32_t, 256> high_;
};

}  // namespace remora::fabric::nic::roce
