// NicTiming: when a modelled RNIC has sent and taken in its packets. Pure arithmetic over a
// profile: it knows no loop and moves no byte.
//
// Every resource is a queue of one server: the transmit engine, the receive engine, PCIe in each
// direction, the link, the memory. A packet is served by each in turn, in the order of the calls.
// Latencies are pipelined: they come on top of what the queues say and keep nobody else waiting, so
// rates are bound by the costs alone.
//
// One thread; nothing blocks or allocates.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "fabric/nic/wire.h"
#include "fabric/nic/wire/sim/profile.h"

namespace remora::fabric::nic::sim {

// What a packet asks of the hardware, by the opcode of its base transport header.
enum class PacketKind : std::uint8_t {
  request,        // posted by a CPU; its payload, if any, is fetched from host memory
  data_response,  // an answer to a READ or atomic: the host's memory is read first
  control,        // an acknowledgement, made by the NIC itself
};
PacketKind kind_of(ConstBytes packet);

// Whether two packets to the same peer must keep their order: requests among themselves, answers
// among themselves.
inline bool is_answer(PacketKind kind) {
  return kind != PacketKind::request;
}

class NicTiming {
 public:
  NicTiming(const NicProfile& nic, const MemoryProfile& memory) : nic_(nic), memory_(memory) {}

  // Something that the NIC does besides carrying packets; counts as Wire::charge has them. Waiting
  // for memory and translation holds back the next packet sent.
  void charge(Wire::Cost cost, std::uint64_t count, std::uint64_t now_ns);

  // When the last bit of the packet, handed over now, has left.
  std::uint64_t sent_at(PacketKind kind, std::size_t size_bytes, std::uint64_t now_ns);

  // When the packet, whose last bit arrives now, has been taken in: a request is then executed, an
  // answer can then be polled.
  std::uint64_t taken_in_at(PacketKind kind, std::size_t size_bytes, std::uint64_t now_ns);

  // Power-on: every queue is empty.
  void reset() { *this = NicTiming(nic_, memory_); }

 private:
  // Waits until the resource is free, then keeps it for so long; returns when it is free again.
  static std::uint64_t serve(std::uint64_t& free_at_ns, std::uint64_t from_ns,
                             std::uint64_t cost_ns);
  std::uint64_t pcie_ns(std::size_t size_bytes) const;
  std::uint64_t link_ns(std::size_t size_bytes) const;

  NicProfile nic_;
  MemoryProfile memory_;
  std::uint64_t transmit_free_ns_ = 0;
  std::uint64_t receive_free_ns_ = 0;
  std::uint64_t pcie_out_free_ns_ = 0;
  std::uint64_t pcie_in_free_ns_ = 0;
  std::uint64_t link_free_ns_ = 0;
  std::uint64_t memory_free_ns_ = 0;
  std::uint64_t hold_until_ns_ = 0;  // of the next packet
};

}  // namespace remora::fabric::nic::sim
