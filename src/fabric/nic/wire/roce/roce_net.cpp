#include "fabric/nic/wire/roce/roce_net.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "fabric/nic/wire/roce/path_mtu.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr int ports_tried = 64;

// That have not introduced themselves: in all, and of one address.
constexpr std::ptrdiff_t strangers_max = 256;
constexpr std::ptrdiff_t strangers_of_address = 32;
constexpr std::uint32_t polls_between_looks = 128;
constexpr int accepts_per_look = 16;
constexpr int messages_per_look = 16;
constexpr int handshakes_per_look = 8;
constexpr int backlog = 64;

Result<Descriptor> listen_stream(const IpEndpoint& at) {
  Descriptor socket(
      ::socket(at.is_v4() ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  const SocketAddress address = socket_address(at);
  if (!socket.open()) {
    return os_failure("cannot make a TCP socket", errno);
  }
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.number(), address.plain(), address.size_bytes) != 0 ||
      ::listen(socket.number(), backlog) != 0) {
    const int error = errno;
    if (error == EADDRINUSE) {
      return Status(Code::in_use, "another process listens at TCP " + to_string(at) +
                                      "; end it, or choose another port or address");
    }
    return os_failure("cannot listen at TCP " + to_string(at), error);
  }
  return socket;
}

// Makes an MTU one that the peer can carry too, as it says, and the way to it, as far as the system
// knows.
Status narrow(std::uint32_t& mtu_bytes, std::uint32_t said_bytes, const ControlStream& way) {
  REMORA_TRY_RESULT(both, agreed_mtu(mtu_bytes, said_bytes));
  REMORA_TRY_RESULT(by_way, path_mtu_of(way.descriptor()));
  mtu_bytes = std::min(*both, *by_way);
  return {};
}

Status check_no_larger(std::uint32_t said_bytes, std::uint32_t before_bytes) {
  return is_roce_mtu(said_bytes) && said_bytes <= before_bytes
             ? Status()
             : Status(Code::invalid_argument,
                      "the peer wants another MTU than the two sides have agreed on");
}

}  // namespace

RoceNet::RoceNet(Runtime& runtime, LinkOwner& owner, const RoceNetOptions& options,
                 Descriptor epoll)
    : runtime_(runtime), owner_(owner), options_(options), epoll_(std::move(epoll)) {
  runtime_.add_poller(*this);
}

RoceNet::~RoceNet() {
  if (outcome_ != nullptr) {
    outcome_->set(Status(Code::closed, "the device was closed while it connected"));
  }
}

Result<std::unique_ptr<RoceNet>> RoceNet::make(Runtime& runtime, LinkOwner& owner,
                                               const RoceNetOptions& options) {
  Descriptor epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.open()) {
    return os_failure("cannot make an epoll set", errno);
  }
  return std::unique_ptr<RoceNet>(new RoceNet(runtime, owner, options, std::move(epoll)));
}

Status RoceNet::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  return epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) == 0
             ? Status()
             : os_failure("cannot watch a socket", errno);
}

Result<std::unique_ptr<RoceNet>> RoceNet::listen(Runtime& runtime, LinkOwner& owner,
                                                 const IpEndpoint& at,
                                                 const RoceNetOptions& options) {
  Result<std::unique_ptr<RoceNet>> net = make(runtime, owner, options);
  if (!net.ok()) {
    return net;
  }
  // A port that is free for UDP need not be so for TCP: where any will do, others are tried.
  int tries = at.port == 0 ? ports_tried : 1;
  Result<Descriptor> listener = Status(Code::in_use, "no port was tried");
  for (; tries > 0 && !listener.ok() && listener.code() == Code::in_use; --tries) {
    REMORA_TRY_RESULT(wire, RoceWire::create({.local = at,
                                              .mtu_bytes = options.mtu_bytes,
                                              .max_links = options.max_links,
                                              .is_second = options.is_second,
                                              .agreed = options.agreed}));
    (*net)->wire_ = std::move(wire).value();
    listener = listen_stream((*net)->wire_->local());
  }
  REMORA_TRY(listener.status());
  (*net)->listener_ = std::move(listener).value();
  REMORA_TRY((*net)->door_.open((*net)->epoll_.number(), (*net)->listener_.number(), 0));
  return net;
}

Task<Result<std::unique_ptr<RoceNet>>> RoceNet::connect(Runtime& runtime, LinkOwner& owner,
                                                        IpEndpoint to, RoceNetOptions options) {
  REMORA_CO_TRY_RESULT(net, make(runtime, owner, options));
  REMORA_CO_TRY_RESULT(stream, connect_stream(to));
  if (options.tls) {
    REMORA_CO_TRY(stream->connect_tls(*options.tls, options.tls_host));
  }
  RoceNet& made = **net;
  REMORA_CO_TRY(made.watch(stream->descriptor()));
  made.links_.push_back(std::make_unique<Peer>(std::move(stream).value(), runtime.now_ns()));
  runtime.arm(made.alarm_, runtime.after(options.handshake_ns));
  Completion<Status> outcome(runtime);
  made.outcome_ = &outcome;
  REMORA_CO_TRY(co_await outcome);
  co_return std::move(net).value();
}

// --- Control messages ---

RoceNet::Peer* RoceNet::find(LinkId link) {
  const auto found = std::ranges::find_if(links_, [link](const std::unique_ptr<Peer>& peer) {
    return peer->link == link && link != 0 && !peer->ended;
  });
  return found == links_.end() ? nullptr : found->get();
}

Status RoceNet::send_control(LinkId link, ConstBytes bytes) {
  if (bytes.size() > control_bytes_max) {
    return Status(Code::invalid_argument,
                  "a control message has at most " + std::to_string(control_bytes_max) + " bytes");
  }
  Peer* peer = find(link);
  return peer == nullptr ? Status(Code::closed, "the link is down") : peer->stream.send(bytes);
}

void RoceNet::cut_off(LinkId link) {
  if (Peer* peer = find(link)) {
    end(*peer);
  }
}

// The NIC hears of it in the wire's next poll, the owner in the poll after that.
void RoceNet::end(Peer& peer) {
  if (peer.link != 0 && wire_ != nullptr) {
    wire_->cut_off(peer.link);
  }
  epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, peer.stream.descriptor(), nullptr);
  shutdown(peer.stream.descriptor(), SHUT_RDWR);
  peer.ended = true;
  some_ended_ = true;
}

bool RoceNet::tell_owner() {
  if (!some_ended_) [[likely]] {
    return false;
  }
  some_ended_ = false;
  std::vector<std::unique_ptr<Peer>> ended;
  for (std::size_t i = 0; i < links_.size();) {
    if (links_[i]->ended) {
      ended.push_back(std::move(links_[i]));
      links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (const std::unique_ptr<Peer>& peer : ended) {
    if (peer->settled) {
      owner_.link_down(peer->link);
    }
  }
  return true;
}

bool RoceNet::arm_wake() {
  polls_to_look_ = 0;
  return !some_ended_ && !more_to_hear_ &&
         std::ranges::none_of(links_,
                              [this](const std::unique_ptr<Peer>& peer) { return is_cut(*peer); });
}

// By the NIC.
bool RoceNet::is_cut(const Peer& peer) const {
  return peer.link != 0 && !peer.ended && wire_->peer(peer.link) == nullptr;
}

bool RoceNet::poll() {
  const bool told = tell_owner();
  if (polls_to_look_-- != 0) [[likely]] {
    return told;
  }
  polls_to_look_ = polls_between_looks;
  return look() || told || some_ended_;
}

bool RoceNet::look() {
  std::array<epoll_event, 1> ready;
  const bool some_ready = epoll_wait(epoll_.number(), ready.data(), ready.size(), 0) > 0;
  if (some_ready && listener_.open()) {
    accept_some();
  }
  const bool hears = std::exchange(more_to_hear_, false) || some_ready;
  const std::uint64_t now_ns = runtime_.now_ns();
  int handshakes = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Peer& peer = *links_[i];
    peer.stream.push();
    const bool is_left = options_.tls && hears && peer.stream.is_next_of_handshake() &&
                         ++handshakes > handshakes_per_look;
    if (hears && !peer.ended && !is_left) {
      hear(peer);
    }
    const bool is_waited_for = !peer.settled;
    const bool is_late = is_waited_for && now_ns - peer.came_ns >= options_.handshake_ns;
    if (is_waited_for && !is_late && !alarm_.armed()) {
      runtime_.arm(alarm_, peer.came_ns + options_.handshake_ns);
    }
    if (!peer.ended && (is_late || is_cut(peer))) {
      end(peer);
      if (is_late && outcome_ != nullptr) {
        std::exchange(outcome_, nullptr)
            ->set(Status(Code::timed_out,
                         "the peer did not finish the handshake in time; a server with TLS wants "
                         "--tls-ca; and if small packets reach it and large ones do not, give the "
                         "route there an MTU"));
      }
    }
  }
  return hears;
}

// Silent ones of one address leave places to those of others.
bool RoceNet::has_place_for(Peer& stranger) const {
  stranger.who.from = stranger.stream.peer().address;
  const auto is_stranger = [](const std::unique_ptr<Peer>& peer) { return !peer->settled; };
  const auto is_neighbour = [&](const std::unique_ptr<Peer>& peer) {
    return is_stranger(peer) && peer->who.from == stranger.who.from;
  };
  return std::ranges::count_if(links_, is_stranger) < strangers_max &&
         std::ranges::count_if(links_, is_neighbour) < strangers_of_address;
}

void RoceNet::accept_some() {
  for (int i = 0; i < accepts_per_look; ++i) {
    Descriptor socket(accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.open()) {
      if (Door::is_want(errno)) {
        door_.rest();
      }
      return;
    }
    auto come = std::make_unique<Peer>(ControlStream(std::move(socket)), runtime_.now_ns());
    if (!has_place_for(*come) || !watch(come->stream.descriptor()).ok() ||
        (options_.tls && !come->stream.accept_tls(*options_.tls).ok())) {
      continue;  // it may try again
    }
    links_.push_back(std::move(come));
    Peer& peer = *links_.back();
    peer.mtu_bytes = wire_->mtu_bytes();
    peer.verbs = options_.agreed.verbs;
    if (Status status = narrow(peer.mtu_bytes, peer.mtu_bytes, peer.stream); !status.ok()) {
      refuse(peer, status);
      end(peer);
    } else {
      (void)say(peer, NetKind::greeting).ok();
    }
  }
}

void RoceNet::hear(Peer& peer) {
  for (int i = 0; i < messages_per_look && !peer.ended; ++i) {
    ConstBytes message;
    const ControlStream::Got got = peer.stream.receive(message);
    if (got == ControlStream::Got::nothing) {
      return;
    }
    Status status =
        got == ControlStream::Got::closed ? peer.stream.why_closed() : take(peer, message);
    if (status.ok()) {
      continue;
    }
    const bool is_told = got == ControlStream::Got::message && listener_.open();
    if (is_told) {
      refuse(peer, status);
    }
    end(peer);
    if (outcome_ != nullptr) {
      std::exchange(outcome_, nullptr)->set(std::move(status));
    }
  }
  more_to_hear_ = more_to_hear_ || !peer.ended;
}

Status RoceNet::take(Peer& peer, ConstBytes message) {
  const bool in_doubt = std::exchange(peer.in_doubt, false);
  if (peer.settled && !in_doubt) {
    owner_.control(peer.link, message);
    return {};
  }
  const Result<NetMessage> parsed = decode_net_message(message);
  if (in_doubt) {
    return hear_verdict(peer, message, parsed);
  }
  REMORA_TRY(parsed.status());
  if (parsed->kind == NetKind::refusal) {
    return parsed->reason;
  }
  const bool is_first = peer.link == 0;
  if (listener_.open()) {
    return is_first ? introduced(peer, *parsed) : heard_settled(peer, *parsed);
  }
  return is_first ? greeted(peer, *parsed) : welcomed(peer, *parsed);
}

// This side's introduction, with the MTU of the link as far as it is known.
Status RoceNet::say(Peer& peer, NetKind kind) {
  return peer.stream.send(encode(NetMessage{.kind = kind,
                                            .mtu_bytes = peer.mtu_bytes,
                                            .udp_port = wire_->local().port,
                                            .gid = wire_->gid(),
                                            .agreed = {peer.verbs, options_.agreed.flush_worth}}));
}

void RoceNet::refuse(Peer& peer, const Status& reason) {
  (void)peer.stream.send(encode(NetMessage{.kind = NetKind::refusal, .reason = reason})).ok();
  owner_.refused(reason);
}

// The listener's side, first to hear the reply. The greeting has arrived: the way there is known.
Status RoceNet::introduced(Peer& peer, const NetMessage& message) {
  if (message.kind != NetKind::reply) {
    return Status(Code::invalid_argument, "the peer sent another message than its reply");
  }
  REMORA_TRY(narrow(peer.mtu_bytes, message.mtu_bytes, peer.stream));
  peer.who.gid = message.gid;
  peer.who.identity = {.uid = no_user, .group = no_user, .pid = 0};
  peer.verbs &= message.agreed.verbs;
  REMORA_TRY(owner_.admit(peer.who));
  const IpEndpoint from{peer.stream.peer().address, message.udp_port};
  REMORA_TRY_RESULT(link, wire_->add_link({.endpoint = from,
                                           .gid = message.gid,
                                           .mtu_bytes = peer.mtu_bytes,
                                           .agreed = {peer.verbs, message.agreed.flush_worth}}));
  peer.link = *link;
  return say(peer, NetKind::ready);
}

// Then to hear what the connector has found out since.
Status RoceNet::heard_settled(Peer& peer, const NetMessage& message) {
  if (message.kind != NetKind::settled) {
    return Status(Code::invalid_argument, "the peer sent another message than the MTU");
  }
  REMORA_TRY(check_no_larger(message.mtu_bytes, peer.mtu_bytes));
  // Others may have come since it was let in, or the owner lets nobody in any more.
  REMORA_TRY(owner_.admit(peer.who));
  peer.mtu_bytes = message.mtu_bytes;
  wire_->narrow(peer.link, peer.mtu_bytes);
  peer.settled = true;
  owner_.link_up(peer.link, peer.who);
  return {};
}

// The connector's side, first to hear the greeting.
Status RoceNet::greeted(Peer& peer, const NetMessage& message) {
  if (message.kind != NetKind::greeting) {
    return Status(Code::invalid_argument, "the peer sent another message than its greeting");
  }
  const IpEndpoint own{peer.stream.local().address, 0};
  REMORA_TRY_RESULT(by_interface, interface_mtu_of(own.address));
  peer.mtu_bytes =
      options_.mtu_bytes == 0 ? *by_interface : std::min(options_.mtu_bytes, *by_interface);
  REMORA_TRY(narrow(peer.mtu_bytes, message.mtu_bytes, peer.stream));
  REMORA_TRY_RESULT(
      wire,
      RoceWire::create(
          {.local = own, .mtu_bytes = peer.mtu_bytes, .max_links = 1, .agreed = options_.agreed}));
  wire_ = std::move(wire).value();
  peer.who.gid = message.gid;
  peer.who.identity = {.uid = no_user, .group = no_user, .pid = 0};
  peer.verbs = options_.agreed.verbs & message.agreed.verbs;
  const IpEndpoint there{peer.stream.peer().address, message.udp_port};
  REMORA_TRY_RESULT(link, wire_->add_link({.endpoint = there,
                                           .gid = message.gid,
                                           .mtu_bytes = peer.mtu_bytes,
                                           .agreed = {peer.verbs, message.agreed.flush_worth}}));
  peer.link = *link;
  return say(peer, NetKind::reply);
}

// Then to hear that it is let in. The reply has arrived: the way there is known.
Status RoceNet::welcomed(Peer& peer, const NetMessage& message) {
  if (message.kind != NetKind::ready) {
    return Status(Code::invalid_argument, "the peer sent a message that does not belong there");
  }
  REMORA_TRY(check_no_larger(message.mtu_bytes, peer.mtu_bytes));
  REMORA_TRY(narrow(peer.mtu_bytes, message.mtu_bytes, peer.stream));
  wire_->narrow(peer.link, peer.mtu_bytes);
  REMORA_TRY(say(peer, NetKind::settled));
  peer.settled = peer.in_doubt = true;
  std::exchange(outcome_, nullptr)->set(Status());
  return {};
}

// What the listener says then: a refusal, if it has changed its mind, or what belongs to the owner.
Status RoceNet::hear_verdict(Peer& peer, ConstBytes message, const Result<NetMessage>& parsed) {
  if (parsed.ok() && parsed->kind == NetKind::refusal) {
    owner_.refused(parsed->reason);
    return parsed->reason;
  }
  owner_.control(peer.link, message);
  return {};
}

}  // namespace remora::fabric::nic::roce
