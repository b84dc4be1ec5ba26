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
#include "base/racy_copy.h"
#include "fabric/durable.h"
#include "fabric/types.h"
#include "pmem/region.h"

namespace remora::fabric::nic {

using LinkId = std::uint32_t;

// A wire numbers its links below this bit, so that a wire of two (wire/joined) can tell whose a
// link is.
inline constexpr LinkId link_of_second_wire = LinkId{1} << 31;
inline constexpr LinkId link_id_mask = link_of_second_wire - 1;

class Shortcut;

// What one link is like.
struct LinkTraits {
  // The most payload bytes of one packet; headers come on top (at most max_header_bytes).
  std::uint32_t mtu_bytes = 0;
  // Every packet arrives, once and in order, as long as the link is up: no retransmission timer is
  // needed, only link_down.
  bool lossless = false;
  // The packets that one queue pair may have on their way, those of answers that it has asked for
  // included, where what finds no room at the receiver is lost; fewer after a loss. 0: there is no
  // such bound.
  std::uint32_t window_packets = 0;
  // Packets of one turn to one peer leave together, which costs no more than one of them does: what
  // can wait a moment for company should.
  bool gathers = false;
  // A large WRITE, of many packets, is placed past the caches: a target CPU sees its last word
  // last, and no order before that.
  bool streams = false;
  // A packet may take another one along, a rider of rider_bytes, which costs next to nothing then:
  // an acknowledgement should wait a moment for somebody who takes it along.
  bool carries_riders = false;
  std::uint32_t lent_from_bytes = ~std::uint32_t{0};  // payload of less is not lent
  // What both ends have agreed on. Of a wire: what it offers, and what a FLUSH to this end is
  // worth.
  Agreed agreed = {};
};

// What a wire is.
struct WireTraits {
  const char* name = "";  // "ring", "mapped", "sim", "roce"; of two wires, that of the first
  Gid gid{};              // who this side is
  // What holds for all its links, where they are not alike; but `streams` says whether one may be
  // so. Of two wires the MTU is what fits either: a link may have more then.
  LinkTraits links = {};
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

// Payload need not be copied to the wire for every peer. A part of wires between processes that may
// read each other's memory.
class Lender {
 public:
  // Memory that is on offer from here on: where a peer may read it too, payload in it need not be
  // copied to the wire. It may be offered several times, and is withdrawn as often.
  // What was lent is had back then, as by recall.
  virtual void offer(ConstBytes memory, const Backing& backing) = 0;
  virtual void withdraw(ConstBytes memory) = 0;
  // As reserve_around, of payload that stays where it lies: the peer takes it from there, and sees
  // it as it is then. It is there until an answer shows that the peer has it, or until recall.
  // Empty where that cannot be, or there is no room: then try to reserve. `later` says that it can
  // be when the peer has taken what it was lent before.
  virtual Bytes lend(LinkId link, std::size_t header_bytes, ConstBytes payload, bool& later) = 0;
  // Whatever was lent and a peer, or this one, may not have yet is copied to the wire now. Of one
  // peer, whether that was anything.
  virtual void recall() = 0;
  virtual bool recall(LinkId link) = 0;

 protected:
  ~Lender() = default;
};

// A part of wires whose links carry riders.
class RiderCarrier {
 public:
  // As Wire::reserve, with a rider, which is copied at once and received before the packet; of
  // packets that leave rider_bytes of the largest.
  virtual Bytes reserve_with(LinkId link, ConstBytes rider, std::size_t size_bytes) = 0;

 protected:
  ~RiderCarrier() = default;
};

// For a loop that sleeps: a part of wires whose packets something can wait for. The meanings are
// those of Poller.
class WireWaker {
 public:
  virtual int wake_fd() const = 0;
  // False when there are packets to hand over at this moment.
  virtual bool arm_wake() = 0;
  virtual void pause_begins() {}
  virtual bool wants_spin() const = 0;

 protected:
  ~WireWaker() = default;
};

// What some wires have and others do not. They live as long as the wire; null where there is none.
struct WireParts {
  Shortcut* shortcut = nullptr;  // a way around the wire
  Lender* lender = nullptr;
  RiderCarrier* riders = nullptr;
  WireWaker* waker = nullptr;  // none: the NIC is polled, or told by events
};

class Wire {
 public:
  virtual ~Wire() = default;

  virtual WireTraits traits() const = 0;
  virtual LinkTraits traits(LinkId link) const = 0;
  // Asked by the device that is made on the wire, once.
  virtual WireParts parts() { return {}; }

  // The link to a peer, or nothing when this wire cannot reach it now.
  virtual std::optional<LinkId> link_to(const Gid& peer) const = 0;
  // Who is at the other end of a link from which a packet has just come.
  virtual Gid peer_of(LinkId link) const = 0;

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
  // Sends what was reserved last, by whatever of these functions or of a part's.
  virtual void commit() = 0;
  // That peer has enough to do at the moment: what is committed until the next flush or poll had
  // better leave in few calls than soon.
  virtual void take_time(LinkId link) { (void)link; }
  // Tells the wire that the NIC has nothing more to send in this turn: packets may be on their way
  // from now on at the latest. A peer that sleeps may hear of them as late as at the next poll, at
  // arm_wake or at pause_begins.
  virtual void flush() = 0;

  // Hands up to `budget` packets that have arrived to the sink; returns how many. Each is consumed
  // when the sink returns.
  virtual std::size_t poll(PacketSink& sink, std::size_t budget) = 0;

  // The time that the NIC spends on something, in worlds where that is modelled; nothing elsewhere.
  // The count is of requests, of misses, of bytes read, of bytes written, of bytes made persistent.
  enum class Cost : std::uint8_t {
    work_request,
    translation_miss,
    memory_read,  // for the answer that is sent next
    memory_write,
    persist,
    log_lookup,  // the count is of messages
  };
  virtual void charge(Cost cost, std::uint64_t count) = 0;

  // Cuts off a peer that misbehaves: the link goes down on both sides.
  virtual void cut_off(LinkId link) = 0;
};

inline constexpr std::size_t max_header_bytes = 64;
inline constexpr std::size_t rider_bytes = 16;  // of an acknowledgement

}  // namespace remora::fabric::nic
