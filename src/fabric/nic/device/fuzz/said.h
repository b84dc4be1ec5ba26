// Packets as bytes, on their way to the device and from it.
#pragma once

#include <vector>

#include "fabric/nic/packet/packet.h"

namespace remora::fabric::nic::fuzz {

// A packet as it was given to the wire.
using Said = std::vector<std::byte>;

inline Said encoded(const Packet& packet, ConstBytes payload) {
  Said bytes(packet_bytes(packet.opcode, payload.size()));
  Packet whole = packet;
  whole.payload_bytes = static_cast<std::uint32_t>(payload.size());
  copy_bytes(encode(whole, bytes).data(), payload);
  return bytes;
}

}  // namespace remora::fabric::nic::fuzz
