// Wire: what carries the software RNIC's packets, and all that the NIC knows of it. The NIC does no
// I/O of its own: it fills packets in place, hands them over, and is handed those that arrive.
//
// A link leads to one peer device. On the wires of one host it is a pair of rings in shared memory;
// on a network, an address; in the simulated world, another node.
//
// One thread, that of the loop which drives the NIC. Nothing blocks and nothing allocates after a
// link is up.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "base/racy_copy.h"
#include "fabric/types.h"
#include "pmem/region.h"

namespace remora::fabric::nic {

using LinkId = std::uint32_t;

// A wire numbers its links below this bit, so that a wire of two (wire/joined) can tell whose a
// link is.
inline constexpr LinkId link_of_second_wire = LinkId{1} << 31;
inline constexpr LinkId link_id_mask = link_of_second_wire - 1;

class Shortcut;

// What one link is like; the meanings are those of the functions of a Wire.
struct LinkTraits {
  std::uint32_t mtu_bytes = 0;
  bool lossless = false;
  std::uint32_t window_packets = 0;
  bool gathers = false;
  bool streams = false;
  bool carries_riders = false;
  std::uint32_t lent_from_bytes = ~std::uint32_t{0};  // payload of less is not lent
};

// The NIC's side.
class PacketSink {
 public:
  virtual ~PacketSink() = default;

  // A packet arrived. Its bytes are the sink's to read until it returns; they come from outside and
  // may be anything. On wires that share memory with the peer they may even change meanwhile: what
  // is checked must be a copy of what is used (headers are copied, payload is only ever data).
  virtual void receive(LinkId from, ConstBytes packet) = 0;

  // A packet that is going to be received in this poll; as untrusted, and nothing is done with it
  // but to copy its headers and to ask for the memory that it will use. Wires that have a backlog
  // to look at may call it. It is received from the same place, and in the order in which packets
  // were expected, or not at all; nothing else is received from that place in this poll.
  virtual void expect(ConstBytes packet) { (void)packet; }

  // The peer is gone, or was cut off. No packet of this link comes after that.
  virtual void link_down(LinkId link) = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;

  // "ring", "mapped", "sim", "roce"; of two wires, that of the first
  virtual const char* name() const = 0;
  // Who this side is.
  virtual Gid gid() const = 0;
  // The most payload bytes of one packet; headers come on top (at most max_header_bytes). A link
  // may have less. Of two wires, what fits either: a link may have more then.
  virtual std::uint32_t mtu_bytes() const = 0;
  // Every packet arrives, once and in order, as long as the link is up: no retransmission timer is
  // needed, only link_down.
  virtual bool lossless() const = 0;
  // The packets that one queue pair may have on their way, those of answers that it has asked for
  // included, on wires that lose what finds no room at the receiver; fewer after a loss. 0: this
  // wire has no such bound.
  virtual std::uint32_t window_packets() const { return 0; }
  // Packets of one turn to one peer leave together, which costs no more than one of them does: what
  // can wait a moment for company should.
  virtual bool gathers() const { return false; }
  // A large WRITE, of many packets, is placed past the caches: a target CPU sees its last word
  // last, and no order before that.
  virtual bool streams() const { return false; }
  // A packet may take another one along, a rider of rider_bytes, which costs next to nothing then:
  // an acknowledgement should wait a moment for somebody who takes it along.
  virtual bool carries_riders() const { return false; }
  // Payload need not be copied to the wire for every peer; see lend.
  virtual bool lends() const { return false; }
  // These of one link. On a wire whose links are not alike, the functions above tell what holds
  // for all of them, and `streams` whether it may be so.
  virtual LinkTraits traits(LinkId link) const {
    (void)link;
    return {.mtu_bytes = mtu_bytes(),
            .lossless = lossless(),
            .window_packets = window_packets(),
            .gathers = gathers(),
            .streams = streams(),
            .carries_riders = carries_riders()};
  }

  // The link to a peer, or nothing when this wire cannot reach it now.
  virtual std::optional<LinkId> link_to(const Gid& peer) const = 0;

  // A packet to that peer is going to be made; wires that can get ready for it may do so meanwhile.
  virtual void prepare(LinkId link) { (void)link; }
  // Room for one packet of exactly `size_bytes` to that peer, to be filled in place; empty when the
  // link has no credit at the moment, or is down. At most one reservation is open at a time: one
  // that was not committed is given up by the next.
  virtual Bytes reserve(LinkId link, std::size_t size_bytes) = 0;
  // The same for a packet with this payload, which needs no padding: room for its headers alone.
  // The wire copies the payload no later than the commit.
  virtual Bytes reserve_around(LinkId link, std::size_t header_bytes, ConstBytes payload) {
    const Bytes room = reserve(link, header_bytes + payload.size());
    if (room.empty()) {
      return {};
    }
    racy_copy(room.subspan(header_bytes), payload);
    return room.first(header_bytes);
  }
  // The same with a rider, which is copied at once and received before the packet. Only where
  // riders are carried, and of packets that leave rider_bytes of the largest.
  virtual Bytes reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) {
    (void)link, (void)rider, (void)size_bytes;
    REMORA_CHECK(false, "this wire carries no riders");
    return {};
  }
  // Memory that is on offer from here on: where a peer may read it too, payload in it need not be
  // copied to the wire. It may be offered several times, and is withdrawn as often.
  // What was lent is had back then, as by recall.
  virtual void offer(ConstBytes memory, const Backing& backing) { (void)memory, (void)backing; }
  virtual void withdraw(ConstBytes memory) { (void)memory; }
  // As reserve_around, of payload that stays where it lies: the peer takes it from there, and sees
  // it as it is then. It is there until an answer shows that the peer has it, or until recall.
  // Empty where that cannot be, or there is no room: then try to reserve. `later` says that it can
  // be when the peer has taken what it was lent before.
  virtual Bytes lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) {
    (void)link, (void)header_bytes, (void)payload, (void)later;
    return {};
  }
  // Whatever was lent and a peer, or this one, may not have yet is copied to the wire now. Of one
  // peer, whether that was anything.
  virtual void recall() {}
  virtual bool recall(LinkId link) {
    (void)link;
    return false;
  }
  // Sends what was reserved last.
  virtual void commit() = 0;
  // That peer has enough to do at the moment: what is committed until the next flush or poll had
  // better leave in few calls than soon.
  virtual void take_time(LinkId link) { (void)link; }
  // Tells the wire that the NIC has nothing more to send in this turn: packets may be on their way
  // from now on at the latest. A peer that sleeps may hear of them as late as at the next poll, at
  // arm_wake or at left.
  virtual void flush() = 0;

  // Hands up to `budget` packets that have arrived to the sink; returns how many. Each is consumed
  // when the sink returns.
  virtual std::size_t poll(PacketSink& sink, std::size_t budget) = 0;

  // For a loop that sleeps; meanings as in Poller. Whether the wire has no descriptor, or packets
  // to hand over at this moment.
  virtual int wake_fd() const { return -1; }
  virtual bool arm_wake() { return true; }
  // As Poller::left.
  virtual void left() {}
  // As Poller::wants_spin.
  virtual bool wants_spin() const { return true; }

  // The time that the NIC spends on something, in worlds where that is modelled; nothing elsewhere.
  // The count is of requests, of misses, of bytes read, of bytes written, of bytes made persistent.
  enum class Cost : std::uint8_t {
    work_request,
    translation_miss,
    memory_read,  // for the answer that is sent next
    memory_write,
    persist,
  };
  virtual void charge(Cost cost, std::uint64_t count) = 0;

  // A way around this wire, where there is one; it lives as long as the wire.
  virtual Shortcut* shortcut() { return nullptr; }

  // Cuts off a peer that misbehaves: the link goes down on both sides.
  virtual void cut_off(LinkId link) = 0;
};

inline constexpr std::size_t max_header_bytes = 64;
inline constexpr std::size_t rider_bytes = 16;  // of an acknowledgement

}  // namespace remora::fabric::nic
