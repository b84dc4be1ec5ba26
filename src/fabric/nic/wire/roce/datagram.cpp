#include "fabric/nic/wire/roce/datagram.h"

#include "fabric/nic/packet/packet.h"
#include "fabric/nic/wire/roce/roce_limits.h"

namespace remora::fabric::nic::roce {

bool has_odd_icrc(bool rxe_flush_icrc, ConstBytes packet) {
  return rxe_flush_icrc && packet[0] == static_cast<std::byte>(PacketOpcode::flush);
}

Verdict judge_datagram(const Icrc& icrc, std::size_t largest_packet_bytes, const Origin& origin,
                       ConstBytes datagram, std::uint16_t guess) {
  constexpr std::size_t smallest_packet_bytes = 12;
  constexpr std::size_t tail = limits::icrc_bytes;
  if (datagram.size() < smallest_packet_bytes + tail ||
      datagram.size() > largest_packet_bytes + tail || datagram.size() % 4 != 0) [[unlikely]] {
    return Verdict::malformed;
  }
  const ConstBytes packet = datagram.first(datagram.size() - tail);
  const auto found = load<std::uint32_t>(packet.data() + packet.size());
  const bool matches = has_odd_icrc(origin.rxe_flush_icrc, packet)
                           ? icrc.matches_twice(origin.path, packet, found, guess)
                           : icrc.matches(origin.path, packet, found, guess);
  return matches ? Verdict::packet : Verdict::bad_icrc;
}

}  // namespace remora::fabric::nic::roce
