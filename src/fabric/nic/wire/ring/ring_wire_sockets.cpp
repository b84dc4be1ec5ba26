// Sockets: how links come up, what they carry beside packets, and how death is noticed.
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fabric/nic/wire/ring/ring_wire.h"
#include "runtime/system_random.h"

namespace remora::fabric::nic::ring {
namespace {

// What a descriptor in the epoll set belongs to: a link's slot, a handshake by its socket's number,
// or the listener.
constexpr std::uint64_t link_tag = 0;
constexpr std::uint64_t pending_tag = std::uint64_t{1} << 32;
constexpr std::uint64_t listener_tag = std::uint64_t{2} << 32;

LinkOwner& nobody() {
  static LinkOwner owner;
  return owner;
}

HandshakeTerms terms_of(const RingWireOptions& options) {
  HandshakeTerms terms{.shape = options.shape,
                       .ring_bytes_max = options.ring_bytes_max,
                       .features = (options.side == nullptr ? 0 : feature_side) |
                                   (options.lending.to ? feature_lending : 0) |
                                   features_of(options.agreed.verbs),
                       .flush_worth = options.agreed.flush_worth};
  if (options.gid) {
    terms.gid = *options.gid;
  } else {
    fill_random(std::as_writable_bytes(std::span(terms.gid)));
  }
  return terms;
}

}  // namespace

Result<std::unique_ptr<RingWire>> RingWire::create(Runtime& runtime, LinkOwner* owner,
                                                   const RingWireOptions& options) {
  REMORA_TRY(check_shape(options.shape));
  if (options.max_links == 0 || options.max_links > limits::links_max) {
    return Status(Code::invalid_argument,
                  "a ring wire has 1 to " + std::to_string(limits::links_max) + " links");
  }
  Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.open()) {
    return os_failure("cannot make an epoll set", errno);
  }
  return std::unique_ptr<RingWire>(
      new RingWire(runtime, owner == nullptr ? nobody() : *owner, options, std::move(epoll)));
}

RingWire::RingWire(Runtime& runtime, LinkOwner& owner, const RingWireOptions& options,
                   Descriptor epoll)
    : runtime_(runtime),
      owner_(owner),
      side_(options.side),
      terms_(terms_of(options)),
      handshake_ns_(options.handshake_ns),
      epoll_(std::move(epoll)),
      slots_(options.max_links),
      lending_(options.lending) {
  active_.reserve(options.max_links);
  unasked_.reserve(options.max_links);
  runtime_.add_poller(*this);
}

RingWire::~RingWire() {
  recall();
  for (const std::unique_ptr<Pending>& pending : pending_) {
    if (pending->outcome != nullptr) {
      pending->outcome->set(Status(Code::closed, "the wire was closed while it connected"));
    }
  }
}

Status RingWire::listen(const std::string& path, mode_t mode) {
  if (listener_) {
    return Status(Code::in_use, "the wire listens at " + listener_->path() + " already");
  }
  REMORA_TRY_RESULT(listener, HostListener::open(path, mode));
  REMORA_TRY(door_.open(epoll_.number(), listener->descriptor(), listener_tag));
  listener_.emplace(std::move(*listener));
  return {};
}

Task<Result<LinkId>> RingWire::connect(std::string path) {
  Completion<Result<LinkId>> outcome(runtime_);
  REMORA_CO_TRY(start_connect(path, outcome));
  co_return co_await outcome;
}

Status RingWire::start_connect(const std::string& path, Completion<Result<LinkId>>& outcome) {
  if (!unused_slot()) {
    return Status(Code::no_space, "the wire has as many links as it can");
  }
  REMORA_TRY_RESULT(handshake, HostHandshake::connect(path, terms_));
  return add_pending(std::move(*handshake), &outcome);
}

Status RingWire::add_pending(HostHandshake handshake, Completion<Result<LinkId>>* outcome) {
  if (pending_.size() >= limits::handshakes) {
    return Status(Code::no_space, "too many handshakes are under way: try again later");
  }
  const int descriptor = handshake.descriptor();
  REMORA_TRY(watch_descriptor(descriptor, pending_tag | static_cast<std::uint32_t>(descriptor)));
  pending_.push_back(std::make_unique<Pending>(*this, std::move(handshake), outcome));
  runtime_.arm(*pending_.back(), runtime_.after(handshake_ns_));
  return {};
}

void RingWire::Pending::expire() {
  const Status late(Code::timed_out, "the peer did not finish the handshake in time");
  handshake.refuse(late);
  wire.forget_descriptor(handshake.descriptor());
  wire.end_pending(*this, late);
}

void RingWire::step_pending(Pending& pending) {
  const HostEnd end = pending.handshake.end();
  const int descriptor = pending.handshake.descriptor();
  Result<std::optional<HostLink>> step =
      pending.handshake.step([&](const HostPeer& peer) { return admit(peer, end); });
  if (step.ok() && !step->has_value()) {
    return;
  }
  // By hand, since a forked child may hold the socket open.
  forget_descriptor(descriptor);
  end_pending(pending, step.ok() ? add_link(std::move(**step)) : Result<LinkId>(step.status()));
}

// Destroys it.
void RingWire::end_pending(Pending& pending, Result<LinkId> result) {
  const auto found =
      std::find_if(pending_.begin(), pending_.end(),
                   [&](const std::unique_ptr<Pending>& other) { return other.get() == &pending; });
  const std::unique_ptr<Pending> ended = std::move(*found);
  pending_.erase(found);
  door_.open_again();
  if (ended->outcome != nullptr) {
    ended->outcome->set(std::move(result));
  } else if (!result.ok()) {
    owner_.refused(result.status());
  }
}

void RingWire::accept_some() {
  for (std::size_t i = 0; i < limits::messages_per_look; ++i) {
    if (pending_.size() >= limits::handshakes) {
      door_.shut();
      return;
    }
    Result<std::optional<HostSocket>> socket = listener_->accept();
    if (socket.ok() && !socket->has_value()) {
      return;
    }
    Status added = socket.ok()
                       ? add_pending(HostHandshake::accept(std::move(**socket), terms_), nullptr)
                       : socket.status();
    if (!added.ok()) {
      door_.rest();
      owner_.refused(added);
      return;
    }
  }
}

Status RingWire::admit(const HostPeer& peer, HostEnd end) {
  if (std::optional<LinkId> earlier = link_to(peer.gid)) {
    // It may have died and come again before its death was looked at.
    serve_socket(*earlier & (limits::links_max - 1));
    if (link_to(peer.gid)) {
      return Status(Code::in_use, "there is a link between these two devices already");
    }
  }
  if (!unused_slot()) {
    return Status(Code::no_space, "the listener has as many links as it can");
  }
  return end == HostEnd::listener ? owner_.admit(peer) : Status();
}

// A slot whose generations are used up stays empty, so that no id ever comes twice.
std::optional<std::uint32_t> RingWire::unused_slot() const {
  constexpr std::uint32_t generations = link_id_mask / limits::links_max;
  const auto found = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.state == LinkState::unused && slot.generation < generations;
  });
  if (found == slots_.end()) {
    return {};
  }
  return static_cast<std::uint32_t>(found - slots_.begin());
}

Result<LinkId> RingWire::add_link(HostLink link) {
  const std::optional<std::uint32_t> index = unused_slot();
  if (!index) {
    return Status(Code::no_space, "the wire has as many links as it can");
  }
  REMORA_TRY(watch_descriptor(link.descriptor(), link_tag | *index));
  Slot& slot = slots_[*index];
  slot.link.emplace(std::move(link));
  slot.state = LinkState::up;
  slot.burst = 1;
  begin_lending(slot);
  active_.push_back(*index);
  const LinkId id = id_of(*index);
  if (side_ != nullptr && (slot.link->features() & feature_side) != 0) {
    side_->side_up(id, slot.link->peer(), slot.link->process());
  }
  owner_.link_up(id, slot.link->peer());
  return id;
}

Status RingWire::send_control(LinkId link, ConstBytes bytes) {
  Slot* slot = find_up(link);
  return slot == nullptr ? Status(Code::closed, "the link is down")
                         : slot->link->send_control(bytes);
}

Status RingWire::send_side(LinkId link, ConstBytes bytes, int passed_descriptor) {
  Slot* slot = find_up(link);
  return slot == nullptr ? Status(Code::closed, "the link is down")
                         : slot->link->send_side(bytes, passed_descriptor);
}

bool RingWire::poll() {
  if (armed_) {
    disarm();
  } else if (polls_to_look_ != 0) [[likely]] {
    --polls_to_look_;
    return false;
  }
  const bool worked = poll_sockets();
  for (const std::uint32_t index : active_) {
    tell_to_forget(slots_[index]);
  }
  polls_to_look_ = worked ? 0 : limits::polls_per_socket_look;
  return worked;
}

bool RingWire::poll_sockets() {
  epoll_event events[limits::socket_events];
  const int count = ::epoll_wait(epoll_.number(), events, limits::socket_events, 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[i].data.u64;
    const auto number = static_cast<std::uint32_t>(tag);
    if (tag == listener_tag) {
      accept_some();
    } else if ((tag & pending_tag) != 0) {
      const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const auto& pending) {
        return pending->handshake.descriptor() == static_cast<int>(number);
      });
      if (found != pending_.end()) {
        step_pending(**found);
      }
    } else {
      serve_socket(number);
    }
  }
  return count > 0;
}

void RingWire::serve_socket(std::uint32_t index) {
  Slot& slot = slots_[index];
  for (std::size_t i = 0; i < limits::messages_per_look; ++i) {
    if (slot.state != LinkState::up) {
      return;
    }
    HostLink::Control control = slot.link->poll_control(frame_);
    switch (control.got) {
      case HostSocket::Got::nothing:
        return;
      case HostSocket::Got::closed:
        drop(slot, slot.link->revoked() ? LinkState::gone : LinkState::closing);
        return;
      case HostSocket::Got::too_much:
        drop(slot, LinkState::gone);
        return;
      case HostSocket::Got::message:
        if (control.frame.kind == FrameKind::control) {
          owner_.control(id_of(index), control.frame.payload);
        } else if (control.frame.kind == FrameKind::side && side_ != nullptr) {
          side_->side_message(id_of(index), control.frame.payload, std::move(control.passed));
        } else if (control.frame.kind == FrameKind::lending) {
          serve_lending(slot, control.frame.payload, std::move(control.passed));
        }
    }
  }
}

void RingWire::pause_begins() {
  flush();
  wake_sleepers();
}

bool RingWire::arm_wake() {
  pause_begins();
  armed_ = true;
  for (const std::uint32_t index : active_) {
    Slot& slot = slots_[index];
    if (slot.state != LinkState::up) {
      return false;
    }
    RingProducer& producer = slot.link->producer();
    if (!slot.link->consumer().arm() || (producer.waits_for_room() && !producer.arm())) {
      return false;
    }
  }
  return true;
}

void RingWire::nothing_came() {
  disarm();
  polls_to_look_ = limits::polls_per_socket_look;
}

void RingWire::disarm() {
  armed_ = false;
  for (const std::uint32_t index : active_) {
    if (slots_[index].link) {
      slots_[index].link->consumer().disarm();
      slots_[index].link->producer().disarm();
    }
  }
}

Status RingWire::watch_descriptor(int descriptor, std::uint64_t tag) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return os_failure("cannot watch a socket", errno);
  }
  return {};
}

void RingWire::forget_descriptor(int descriptor) {
  ::epoll_ctl(epoll_.number(), EPOLL_CTL_DEL, descriptor, nullptr);
}

}  // namespace remora::fabric::nic::ring
