// Engine: what every part of a device works with. Connection: what both halves of one queue pair
// know of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/faults.h"
#include "fabric/device.h"
#include "fabric/nic/completions.h"
#include "fabric/nic/dma.h"
#include "fabric/nic/packet/packet.h"
#include "fabric/nic/queue_pair/address.h"
#include "fabric/nic/shortcut/shortcut.h"
#include "fabric/nic/translation/keys.h"
#include "fabric/nic/translation/memory.h"
#include "fabric/nic/wire.h"
#include "fabric/queue_pair.h"
#include "runtime/runtime.h"

namespace remora::fabric::nic {

struct Engine {
  // An event that does nothing: the loop asks its pollers after each.
  class Kick final : public Timer {
   public:
    void expire() override {}
  };

  Engine(Runtime& runtime_, Wire& wire_, Dma& dma_, const Keys& keys_,
         std::uint32_t cached_pages = limits::cached_pages)
      : runtime(runtime_), wire(wire_), dma(dma_), keys(keys_), memory(cached_pages) {
    const WireParts parts = wire_.parts();
    shortcut = parts.shortcut;
    lender = parts.lender;
    riders = parts.riders;
    waker = parts.waker;
  }

  // The place that a key leads to, if it is one; else null, and locate says why. What the
  // translation costs is charged.
  [[gnu::always_inline]] std::byte* translate(const Reach& reach) {
    std::byte* place = memory.translate(reach);
    charge_misses();
    return place;
  }
  // The same, of whatever region; see Memory::locate.
  Whereabouts locate(const Reach& reach, Parts& parts) {
    const Whereabouts answer = memory.locate(reach, parts);
    charge_misses();
    return answer;
  }

  void charge_misses() {
    if (const std::uint64_t misses = memory.take_misses(); misses != 0) [[unlikely]] {
      wire.charge(Wire::Cost::translation_miss, misses);
    }
  }

  // Room on the wire for this packet; false when there is none at the moment. The caller fills the
  // payload, then commits: headers are written behind it, since a peer may be polling their line.
  bool begin(LinkId link, const Packet& packet, Bytes& payload) {
    const std::size_t headers = header_bytes(packet.opcode);
    room = wire.reserve(link, packet_bytes(packet.opcode, packet.payload_bytes));
    if (room.empty()) [[unlikely]] {
      return false;
    }
    payload = room.subspan(headers, packet.payload_bytes);
    return true;
  }
  // The same, with a rider; only of links that carry them.
  bool begin_with(LinkId link, const Packet& rider, const Packet& packet, Bytes& payload) {
    static_assert(rider_bytes == bth_bytes + aeth_bytes);
    std::array<std::byte, rider_bytes> first;
    encode_base(rider, 0, first.data());
    encode_aeth(rider, first.data() + bth_bytes);
    room = riders->reserve_with(link, first, packet_bytes(packet.opcode, packet.payload_bytes));
    if (room.empty()) [[unlikely]] {
      return false;
    }
    ++counters.packets_sent;
    payload = room.subspan(header_bytes(packet.opcode), packet.payload_bytes);
    return true;
  }
  // The same, with this payload, which needs no padding.
  bool begin_around(LinkId link, const Packet& packet, ConstBytes payload) {
    room = wire.reserve_around(link, header_bytes(packet.opcode), payload);
    return !room.empty();
  }
  // The same, with this payload where it lies; see Lender::lend. Only of links that lend.
  bool begin_lent(LinkId link, const Packet& packet, ConstBytes payload, bool& later) {
    room = lender->lend(link, header_bytes(packet.opcode), payload, later);
    return !room.empty();
  }
  // What was lent is had back; see Lender. Of one peer, whether there was any.
  void recall() {
    if (lender != nullptr) {
      lender->recall();
    }
  }
  bool recall(LinkId link) { return lender != nullptr && lender->recall(link); }
  // The same packet, as it is now.
  void commit(const Packet& packet) {
    if (room.size() == header_bytes(packet.opcode)) {
      encode_headers(packet, room.data());
    } else {
      encode(packet, room);
    }
    commit_encoded();
  }
  // The same, with its headers in their place already.
  void commit_encoded() {
    wire.commit();
    ++counters.packets_sent;
    unflushed = true;
    ask_for_turn();
  }

  // There is something to do in the next turn; in virtual time there is none without an event.
  void ask_for_turn() {
    if (!has_turn()) {
      runtime.run_soon(kick);
    }
  }
  bool has_turn() const { return kick.armed() || in_turn; }

  // The time of this turn: the clock is read once in a turn, if at all.
  std::uint64_t now_ns() {
    if (!in_turn) {
      return runtime.now_ns();
    }
    if (turn_ns == 0) {
      turn_ns = runtime.now_ns();
    }
    return turn_ns;
  }

  Runtime& runtime;
  Wire& wire;
  Dma& dma;
  Keys keys;
  Faults faults;  // of durable verbs
  Memory memory;
  DeviceCounters counters;
  Addresses addresses;           // that datagrams go to
  Shortcut* shortcut = nullptr;  // these are the wire's, or null
  Lender* lender = nullptr;
  RiderCarrier* riders = nullptr;
  WireWaker* waker = nullptr;
  Bytes room;              // of the packet that was begun
  bool unflushed = false;  // packets were committed since the wire was last flushed
  bool in_turn = false;
  Kick kick;
  std::uint64_t turn_ns = 0;
  std::uint32_t overruns = 0;  // completion queues that lost something
};

// The longest message in packets of this size.
constexpr std::uint32_t message_bytes_max(std::uint32_t mtu_bytes) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      limits::message_bytes, std::uint64_t{limits::message_packets} * mtu_bytes));
}

struct Connection {
  Engine& engine;
  DomainId domain = 0;
  QpNumber number = 0;  // of this side
  QpNumber peer = 0;
  LinkId link = 0;
  LinkTraits traits = {};
  std::uint32_t max_message_bytes = 0;
  ConnectOptions options = {};
  Completions* send_completions = nullptr;
  Completions* receive_completions = nullptr;
  std::uint32_t max_pieces = 0;
  std::uint32_t max_inline_bytes = 0;
};

}  // namespace remora::fabric::nic
