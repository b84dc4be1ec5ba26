// RoceNet: how RoCE devices of Remora find each other, and what they say beside packets. The device
// that listens has one port number, for TCP and UDP alike. A connector reaches it by TCP; both tell
// each other their UDP ports and names, and a link of the RoceWire comes up on either side. The TCP
// connection stays: it carries control messages, as the socket of a ring link does, and when it
// ends the link is down, however the peer ended.
//
// MTU. Each link has the largest that the interfaces at both ends and the way between them carry.
// What the way carries is what the system knows of it once large messages have gone there and back:
// a way that drops large packets, and does not say so, lets nobody in.
//
// Addresses are the same for TCP and UDP, and part of every packet's checksum: nothing on the way
// may translate them.
//
// Trust. A peer is known by nothing but what it says; its user is no_user. The owner's admit may
// turn it away, when it introduces itself and when its link comes up: meanwhile others may have
// come. What it says later may prove that it knows a token. With a TlsContext the TCP connection is
// encrypted, and a connector knows the listener by its certificate. UDP is not, and packets prove
// nothing: whoever is on the way sees values and can forge them, so the network must be a trusted
// one, or a tunnel.
//
// One thread, the loop's. Nothing blocks but the first part of `connect`, for some seconds at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "fabric/nic/wire/link_owner.h"
#include "fabric/nic/wire/roce/control_stream.h"
#include "fabric/nic/wire/roce/net_message.h"
#include "fabric/nic/wire/roce/roce_wire.h"
#include "runtime/door.h"
#include "runtime/event.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace remora::fabric::nic::roce {

// Of a peer that comes from the network.
inline constexpr uid_t no_user = static_cast<uid_t>(-1);

struct RoceNetOptions {
  std::uint32_t mtu_bytes = 0;  // the most that a link may have; 0: by the interface
  std::uint32_t max_links = limits::links;
  bool is_second = false;                       // as in RoceWireOptions
  Agreed agreed = {.verbs = all_vendor_verbs};  // likewise
  std::uint64_t handshake_ns = 2'000'000'000;
  // With it the TCP connection is TLS alone. Of a connector: the host whose certificate it expects.
  std::shared_ptr<TlsContext> tls = {};
  std::string tls_host = {};
};

class RoceNet final : public Poller {
 public:
  // Lets peers in at this address and port, which must be of this machine and not "any". Port 0
  // takes one that is free. Loop and owner outlive it.
  static Result<std::unique_ptr<RoceNet>> listen(Runtime& runtime, LinkOwner& owner,
                                                 const IpEndpoint& at,
                                                 const RoceNetOptions& options = {});
  // A device of its own with one link, to the one that listens there. Fails with not_found when
  // nobody does, with timed_out, or with the listener's reason.
  static Task<Result<std::unique_ptr<RoceNet>>> connect(Runtime& runtime, LinkOwner& owner,
                                                        IpEndpoint to, RoceNetOptions options = {});
  ~RoceNet() override;

  RoceWire& wire() { return *wire_; }
  const RoceWire& wire() const { return *wire_; }
  // Of a connector: its link.
  LinkId link() const { return links_.empty() ? 0 : links_.front()->link; }

  // As RingWire has them.
  Status send_control(LinkId link, ConstBytes bytes);
  void cut_off(LinkId link);

  bool poll() override;
  int wake_fd() const override { return epoll_.number(); }
  bool arm_wake() override;
  bool wants_spin() const override { return false; }

 private:
  struct Peer {
    Peer(ControlStream given, std::uint64_t now_ns) : stream(std::move(given)), came_ns(now_ns) {}
    ControlStream stream;
    std::uint64_t came_ns;
    LinkId link = 0;  // 0: it has not introduced itself
    HostPeer who = {};
    std::uint32_t mtu_bytes = 0;  // that was said last
    VendorVerbs verbs = 0;        // that are offered, or agreed on
    bool settled = false;         // control messages follow
    bool in_doubt = false;        // of a connector: the first of them may be a refusal
    bool ended = false;
  };

  // Lets the next poll look for those that did not introduce themselves in time.
  class Alarm final : public Timer {
   public:
    explicit Alarm(RoceNet& net) : net_(net) {}
    void expire() override { net_.polls_to_look_ = 0; }

   private:
    RoceNet& net_;
  };

  RoceNet(Runtime& runtime, LinkOwner& owner, const RoceNetOptions& options, Descriptor epoll);
  static Result<std::unique_ptr<RoceNet>> make(Runtime& runtime, LinkOwner& owner,
                                               const RoceNetOptions& options);
  Status watch(int descriptor);
  bool look();
  bool has_place_for(Peer& stranger) const;
  void accept_some();
  void hear(Peer& peer);
  Status take(Peer& peer, ConstBytes message);
  Status introduced(Peer& peer, const NetMessage& message);
  Status heard_settled(Peer& peer, const NetMessage& message);
  Status greeted(Peer& peer, const NetMessage& message);
  Status welcomed(Peer& peer, const NetMessage& message);
  Status hear_verdict(Peer& peer, ConstBytes message, const Result<NetMessage>& parsed);
  Status say(Peer& peer, NetKind kind);
  void refuse(Peer& peer, const Status& reason);
  void end(Peer& peer);
  bool tell_owner();
  Peer* find(LinkId link);
  bool is_cut(const Peer& peer) const;

  Runtime& runtime_;
  LinkOwner& owner_;
  const RoceNetOptions options_;
  Descriptor epoll_;
  Descriptor listener_;
  Door door_{runtime_};
  std::unique_ptr<RoceWire> wire_;
  std::vector<std::unique_ptr<Peer>> links_;  // those that came, introduced or not
  bool some_ended_ = false;
  bool more_to_hear_ = false;  // messages that have come and were left for the next look
  std::uint32_t polls_to_look_ = 0;
  Completion<Status>* outcome_ = nullptr;  // of the flow that connects
  Alarm alarm_{*this};
};

}  // namespace remora::fabric::nic::roce
