// Packets that a fuzzer chooses: close to right ones, so that they get far.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/nic/device/fuzz/ground.h"
#include "fabric/nic/device/fuzz/input.h"
#include "fabric/nic/device/fuzz/partner.h"
#include "fabric/nic/device/fuzz/silent.h"
#include "fabric/nic/packet/packet.h"

namespace remora::fabric::nic::fuzz {

struct Draft {
  Packet packet;
  std::vector<std::byte> payload;
  std::size_t from = 0;       // which of the partners
  std::uint32_t numbers = 0;  // that it takes if it is executed; none, if it is out of order
};

class Drafter {
 public:
  Drafter(Input& input, Ground& ground, std::uint32_t mtu_bytes)
      : input_(input), ground_(ground), mtu_bytes_(mtu_bytes) {}

  // A packet of one of the partners, of which these are the numbers that are expected next.
  Draft next(std::span<const std::unique_ptr<Partner>> partners,
             std::span<const PacketSequence> expected);
  // One for which nobody is told anything.
  Draft next(const Silent& silent);

 private:
  void aim(Packet& packet);
  void detail(Packet& packet, std::uint8_t shade);
  void place_word(const Packet& packet, std::uint8_t shade, Bytes payload);
  std::uint32_t fitting_bytes(const Partner& partner, const Packet& packet,
                              std::uint32_t wanted) const;

  Input& input_;
  Ground& ground_;
  const std::uint32_t mtu_bytes_;
  std::uint32_t made_ = 0;
};

// Takes from a packet, and its payload, what would look like a secret once it is written.
void make_plain(Packet& packet, Bytes payload);

}  // namespace remora::fabric::nic::fuzz
