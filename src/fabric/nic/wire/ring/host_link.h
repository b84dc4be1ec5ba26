// HostLink: a link between two processes of one host, with its two rings, and HostHandshake: how it
// comes about. A link belongs to whoever got it from the handshake; destroying it closes the socket
// and forgets the memory, and the other side finds out.
//
// The socket stays open beside the rings. It carries small control messages and bells, and the
// kernel closes it when the peer's process ends, however it ends: that is how death is noticed.
//
// The bell is a message on that socket and not an eventfd: both sides of an eventfd share its
// flags, so a hostile peer could make it blocking and full, and whoever rings it would hang.
//
// One thread. Nothing blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/nic/wire/link_owner.h"
#include "fabric/nic/wire/ring/byte_ring.h"
#include "fabric/nic/wire/ring/handshake.h"
#include "fabric/nic/wire/ring/host_socket.h"
#include "fabric/nic/wire/ring/shared_segment.h"

namespace remora::fabric::nic::ring {

enum class HostEnd : std::uint8_t { connector = 0, listener = 1 };

class HostLink {
 public:
  HostLink(HostSocket socket, SharedSegment memory, const HostPeer& peer, HostEnd end,
           std::uint32_t mtu_bytes, std::uint64_t features = 0,
           FlushWorth flush_worth = FlushWorth::persistent);

  // What both sides can do.
  std::uint64_t features() const { return features_; }
  Agreed agreed() const { return {verbs_of(features_), flush_worth_}; }
  // The peer's process; closed when the system has no such handle.
  Descriptor process() const { return socket_.process(); }

  const HostPeer& peer() const { return peer_; }
  int descriptor() const { return socket_.descriptor(); }
  RingProducer& producer() { return producer_; }
  const RingProducer& producer() const { return producer_; }
  RingConsumer& consumer() { return consumer_; }
  std::size_t ring_bytes() const { return memory_.ring_bytes(); }

  // The peer has cut this side off.
  bool revoked() { return memory_.head().revoked.load(std::memory_order_relaxed) != 0; }
  // Cuts the peer off: it finds its link gone when it next looks, be it stopped meanwhile. What it
  // writes to the memory after that reaches nobody once this link is destroyed.
  void revoke();

  // Wakes the peer.
  void ring_bell();

  // One message of at most control_bytes_max: no_space when the peer leaves too many
  // unread, closed when it is gone.
  Status send_control(ConstBytes bytes);

  // The same for a short cut, with a descriptor if it is not -1; the caller keeps that.
  Status send_side(ConstBytes bytes, int passed_descriptor);

  // The same about memory that is lent.
  Status send_lending(ConstBytes bytes, int passed_descriptor);

  // The next message from the socket. It is too_much when it was not a message at all.
  struct Control {
    HostSocket::Got got;
    Frame frame;        // of a message; its bytes are in the buffer
    Descriptor passed;  // that came with it
  };
  // `buffer` holds frame_bytes_max.
  Control poll_control(Bytes buffer);

 private:
  HostSocket socket_;
  SharedSegment memory_;
  HostPeer peer_;
  std::uint64_t features_;
  FlushWorth flush_worth_;  // at the peer
  RingProducer producer_;
  RingConsumer consumer_;
};

// What this side is and wants.
struct HandshakeTerms {
  Gid gid{};
  RingShape shape = {};              // a listener takes any rings up to ring_bytes_max
  std::uint32_t ring_bytes_max = 0;  // of a listener
  std::uint64_t features = 0;        // that this side has
  FlushWorth flush_worth = FlushWorth::persistent;  // at this side
};

class HostHandshake {
 public:
  // Connects and says hello.
  static Result<HostHandshake> connect(const std::string& path, const HandshakeTerms& terms);
  // Takes a process that has connected.
  static HostHandshake accept(HostSocket socket, const HandshakeTerms& terms);

  int descriptor() const { return socket_.descriptor(); }
  HostEnd end() const { return end_; }

  // Whether the owner wants a link to this peer; the listener tells it a refusal.
  using Admit = std::function<Status(const HostPeer&)>;

  // To be called when the socket is readable: the link when it is up, nothing while there is more
  // to wait for, or why there will be none. After a link or a failure the handshake is of no use.
  Result<std::optional<HostLink>> step(const Admit& admit);

  // Tells a connector why it is not let in.
  void refuse(const Status& reason);

 private:
  HostHandshake(HostSocket socket, const HandshakeTerms& terms, HostEnd end)
      : socket_(std::move(socket)), terms_(terms), end_(end) {}

  Result<HostLink> welcome(ConstBytes hello, Descriptor memory, const Admit& admit);
  Result<HostLink> finish(ConstBytes answer, const Admit& admit);

  HostSocket socket_;
  std::optional<SharedSegment> memory_;  // of the connector
  HandshakeTerms terms_;
  HostEnd end_;
};

}  // namespace remora::fabric::nic::ring
