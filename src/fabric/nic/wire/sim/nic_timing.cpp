#include "fabric/nic/wire/sim/nic_timing.h"

#include <algorithm>

#include "fabric/nic/packet/packet.h"

namespace remora::fabric::nic::sim {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

std::uint64_t span_ns(std::uint64_t amount, std::uint64_t per_s) {
  return (amount * ns_per_s + per_s - 1) / per_s;
}

}  // namespace

PacketKind kind_of(ConstBytes packet) {
  if (packet.empty()) {
    return PacketKind::control;
  }
  switch (static_cast<PacketOpcode>(packet[0])) {
    case PacketOpcode::acknowledge:
    case PacketOpcode::persisted:
      return PacketKind::control;
    case PacketOpcode::read_response_first:
    case PacketOpcode::read_response_middle:
    case PacketOpcode::read_response_last:
    case PacketOpcode::read_response_only:
    case PacketOpcode::atomic_acknowledge:
    case PacketOpcode::place_acknowledge:
      return PacketKind::data_response;
    default:
      return PacketKind::request;
  }
}

std::uint64_t NicTiming::serve(std::uint64_t& free_at_ns, std::uint64_t from_ns,
                               std::uint64_t cost_ns) {
  free_at_ns = std::max(free_at_ns, from_ns) + cost_ns;
  return free_at_ns;
}

std::uint64_t NicTiming::pcie_ns(std::size_t size_bytes) const {
  return span_ns(size_bytes, nic_.pcie_bytes_per_s);
}

std::uint64_t NicTiming::link_ns(std::size_t size_bytes) const {
  return span_ns(size_bytes * 8, nic_.bandwidth_bits_per_s);
}

void NicTiming::charge(Wire::Cost cost, std::uint64_t count, std::uint64_t now_ns) {
  switch (cost) {
    case Wire::Cost::work_request:
      serve(transmit_free_ns_, now_ns, count * nic_.work_request_ns);
      break;
    case Wire::Cost::translation_miss:
      serve(transmit_free_ns_, now_ns, count * nic_.translation_miss_ns);
      hold_until_ns_ = std::max(hold_until_ns_, now_ns + nic_.translation_miss_latency_ns);
      break;
    case Wire::Cost::memory_read:
      // The way to the memory is in dma_read_latency_ns; how fast it gives bytes is the medium's.
      hold_until_ns_ = std::max(
          hold_until_ns_, serve(memory_free_ns_, now_ns, span_ns(count, memory_.read_bytes_per_s)));
      break;
    case Wire::Cost::memory_write:
      serve(memory_free_ns_, now_ns, span_ns(count, memory_.write_bytes_per_s));
      break;
    case Wire::Cost::persist:
      // A FLUSH is answered when what was written before has drained into the medium.
      hold_until_ns_ =
          std::max(hold_until_ns_, std::max(memory_free_ns_, now_ns) + memory_.remote_persist_ns);
      break;
    case Wire::Cost::log_lookup:
      // The responder looks for where each message lies; the copies are paid for as they are made.
      hold_until_ns_ = std::max(hold_until_ns_, now_ns) + count * nic_.log_lookup_ns;
      break;
  }
}

std::uint64_t NicTiming::sent_at(PacketKind kind, std::size_t size_bytes, std::uint64_t now_ns) {
  std::uint64_t at_ns = serve(transmit_free_ns_, now_ns, nic_.packet_ns);
  if (size_bytes > largest_header_bytes) {
    at_ns = serve(pcie_out_free_ns_, at_ns, pcie_ns(size_bytes));
    at_ns = serve(link_free_ns_, at_ns, link_ns(size_bytes));
  } else {
    at_ns += link_ns(size_bytes);  // too short to keep anybody waiting
  }
  if (kind == PacketKind::request) {
    at_ns += nic_.post_latency_ns;
  }
  if (kind == PacketKind::data_response || size_bytes > largest_header_bytes) {
    at_ns += nic_.dma_read_latency_ns;
  }
  const std::uint64_t held_ns = hold_until_ns_ > now_ns ? hold_until_ns_ - now_ns : 0;
  hold_until_ns_ = 0;
  return at_ns + held_ns;
}

std::uint64_t NicTiming::taken_in_at(PacketKind kind, std::size_t size_bytes,
                                     std::uint64_t now_ns) {
  std::uint64_t at_ns = serve(receive_free_ns_, now_ns, nic_.packet_ns);
  if (size_bytes > largest_header_bytes) {
    at_ns = serve(pcie_in_free_ns_, at_ns, pcie_ns(size_bytes));
  }
  at_ns += nic_.receive_latency_ns;
  return kind == PacketKind::request ? at_ns : at_ns + nic_.completion_latency_ns;
}

}  // namespace remora::fabric::nic::sim
