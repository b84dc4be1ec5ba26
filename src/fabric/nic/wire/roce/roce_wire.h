// RoceWire: the wire between machines. Packets are exactly those of RoCEv2, in UDP datagrams with
// their invariant checksum, so the peer may be another Remora, Linux's rxe or a real NIC.
//
// Endpoints. One socket serves the device: all packets leave from the port where it listens, 4791
// unless told otherwise. (The standard has a source port for each queue pair, so that switches
// spread them; it means nothing to the receiver, and one socket lets one call send the packets of
// many.) A link is the address and port of a peer. A datagram belongs to the link whose address and
// port it came from; failing that, to the link at that address and port 4791, since others choose
// their source ports as they like. All else is dropped and counted.
//
// Names. A device at port 4791 has its IP address for a gid, as RoCE has it. One at another port
// has 16 bytes of chance: an address would not tell the devices of one machine apart.
//
// MTU. Each link has its own, the largest that both sides and the way between them carry; what is
// asked of the wire is the most that any link can have. So it is with segmentation: a way that
// cannot have it takes it from no other.
//
// Loss. Datagrams get lost, twice, out of order: the NIC deals with that. Its window is bounded so
// that what one queue pair has on the way fits into the receiver's socket (window_packets).
//
// Trust. Whoever can send from a peer's address can send packets in its name, as with every RoCE
// device: queue pair numbers, sequence numbers and keys are all that a stranger has to guess.
// cut_off ends a link here; the peer finds out when nobody answers.
//
// One thread, that of the loop. Nothing blocks; nothing allocates but links that come up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "fabric/nic/wire.h"
#include "fabric/nic/wire/roce/datagram.h"
#include "fabric/nic/wire/roce/icrc.h"
#include "fabric/nic/wire/roce/ip_endpoint.h"
#include "fabric/nic/wire/roce/roce_limits.h"
#include "fabric/nic/wire/roce/udp_socket.h"

namespace remora::fabric::nic::roce {

struct RoceWireOptions {
  IpEndpoint local = {};        // port 0 takes one that is free
  std::uint32_t mtu_bytes = 0;  // 256, 512, 1024, 2048 or 4096; 0: by the interface
  std::uint32_t max_links = limits::links;
  bool is_second = false;  // of two wires: its links have the bit link_of_second_wire
  // What this side offers to peers that are introduced, and what a FLUSH is worth here.
  Agreed agreed = {.verbs = all_vendor_verbs};
  // For tests: so many of a million packets that come are taken for lost, by this seed.
  std::uint32_t loss_ppm = 0;
  std::uint64_t loss_seed = 1;
};

struct RocePeer {
  IpEndpoint endpoint;
  Gid gid{};
  std::uint32_t mtu_bytes = 0;  // of the link, at most the wire's; 0: the wire's
  // Linux's rxe takes the headers of a FLUSH twice into its checksum (seen in 6.12).
  bool rxe_flush_icrc = false;
  Agreed agreed = {};  // what an introduction has come to
};

// What the wire did, counted since it was made.
struct RoceCounters {
  std::uint64_t calls_sent = 0;  // system calls
  std::uint64_t calls_received = 0;
  std::uint64_t packets_sent = 0;
  std::uint64_t packets_received = 0;  // handed to the NIC
  std::uint64_t send_failures = 0;     // packets that the system refused
  std::uint64_t from_strangers = 0;    // dropped: of no link
  std::uint64_t malformed = 0;         // dropped: no size that a packet has
  std::uint64_t bad_icrc = 0;          // dropped
  std::uint64_t lost_on_purpose = 0;   // dropped: see loss_ppm
};

class RoceWire final : public Wire, public WireWaker {
 public:
  // The address must be one of this machine's.
  static Result<std::unique_ptr<RoceWire>> create(const RoceWireOptions& options);

  // A link to that peer, from now on; nothing is sent. in_use when there is one to that endpoint or
  // gid already, invalid_argument when its address is of the other family or its MTU is none.
  Result<LinkId> add_link(const RocePeer& peer);
  // The peer at the standard port of this address.
  Result<LinkId> add_link(const Gid& address) {
    return add_link({.endpoint = {address, limits::udp_port}, .gid = address});
  }

  // Makes the MTU of a link smaller. No queue pair uses it yet.
  void narrow(LinkId link, std::uint32_t mtu_bytes);

  const IpEndpoint& local() const { return socket_.local(); }
  // Who is at the other end, while the link is up.
  const RocePeer* peer(LinkId link) const;
  std::size_t links() const { return by_endpoint_.size(); }
  const RoceCounters& counters() const { return counters_; }
  // No packet passes in either direction while it is mute; for tests.
  void mute(bool muted) { muted_ = muted; }

  Gid gid() const { return gid_; }
  std::uint32_t mtu_bytes() const { return mtu_bytes_; }
  std::uint32_t window_packets() const { return window_packets_; }
  WireTraits traits() const override {
    return {.name = "roce",
            .gid = gid_,
            .links = {.mtu_bytes = mtu_bytes_,
                      .window_packets = window_packets_,
                      .gathers = true,
                      .streams = true,
                      .agreed = agreed_}};
  }
  WireParts parts() override { return {.waker = this}; }
  LinkTraits traits(LinkId link) const override;
  std::optional<LinkId> link_to(const Gid& peer) const override;
  Gid peer_of(LinkId link) const override;
  Bytes reserve(LinkId link, std::size_t size_bytes) override;
  Bytes reserve_around(LinkId link, std::size_t header_bytes, ConstBytes payload) override;
  void commit() override;
  void take_time(LinkId) override { has_time_ = true; }
  void flush() override;
  std::size_t poll(PacketSink& sink, std::size_t budget) override;
  int wake_fd() const override { return socket_.descriptor(); }
  bool arm_wake() override {
    polls_to_look_ = 0;
    return rest_.empty() && batch_.packets == 0 && ending_.empty();
  }
  bool wants_spin() const override { return !by_endpoint_.empty(); }
  void charge(Cost, std::uint64_t) override {}
  void cut_off(LinkId link) override;

 private:
  struct Link {
    bool up = false;
    // Whether the system cuts a large datagram into small ones on this way.
    bool segments = true;
    std::uint32_t generation = 1;
    RocePeer peer;  // with the MTU of the link
    SocketAddress address;
    Icrc::Path out = 0;
    Origin in;
    std::uint16_t in_port = 0;  // that `in` is for
    bool is_here = false;       // the peer is on this machine, as far as its address tells
  };
  struct EndpointHash {
    std::size_t operator()(const IpEndpoint& endpoint) const;
  };
  // Packets of one link that leave in one call: all of the first one's size, but the last.
  struct Batch {
    std::uint32_t link = 0;
    std::size_t packets = 0;
    std::size_t bytes = 0;
    std::size_t segment_bytes = 0;
    bool closed = false;  // the last one is shorter
  };

  RoceWire(UdpSocket socket, const RoceWireOptions& options, std::uint32_t mtu_bytes);

  LinkId id_of(std::uint32_t slot) const;
  const Link* find(LinkId link) const;
  bool takes(std::uint32_t slot, std::size_t datagram_bytes) const;
  bool send_batch();
  bool send_singly();
  void end_batch();
  std::uint32_t icrc_of(const Link& link, ConstBytes packet, std::uint16_t identification) const;

  bool receive_some();
  void found_nothing();
  void let_go() const;
  bool find_sender(const IpEndpoint& from);
  bool is_good(ConstBytes datagram, std::uint16_t guess);
  void give_back(PacketSink& sink);

  UdpSocket socket_;
  const std::uint32_t mtu_bytes_;
  const Agreed agreed_;
  const std::uint32_t window_packets_;
  const Icrc icrc_;
  const bool numbers_segments_;  // IPv4: the identification counts
  Gid gid_{};

  const LinkId mark_;  // in the ids of all links
  std::vector<Link> links_;
  std::unordered_map<IpEndpoint, std::uint32_t, EndpointHash> by_endpoint_;
  std::vector<LinkId> ending_;  // to be told to the sink

  // Sending.
  std::vector<std::byte> out_;
  Batch batch_;
  std::size_t reserved_bytes_ = 0;   // of the open reservation
  ConstBytes reserved_payload_;      // that its end is to be a copy of
  bool has_time_ = false;            // what is committed: see take_time
  std::size_t sent_here_bytes_ = 0;  // in haste, since the socket was last found empty

  // Receiving: what the last call brought and was not handed over.
  std::vector<std::byte> in_;
  Datagrams rest_;
  std::uint32_t sender_ = 0;
  IpEndpoint sender_endpoint_;
  bool sender_known_ = false;
  std::uint32_t empty_polls_ = 0;    // at which the socket was asked
  std::uint32_t polls_to_look_ = 0;  // until it is asked again

  const std::uint32_t loss_ppm_;
  Random loss_;
  bool muted_ = false;
  RoceCounters counters_;
};

}  // namespace remora::fabric::nic::roce
