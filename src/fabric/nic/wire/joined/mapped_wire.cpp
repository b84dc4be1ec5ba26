#include "fabric/nic/wire/joined/mapped_wire.h"

#include <utility>

namespace remora::fabric::nic::joined {

using mapped::MappedKind;
using mapped::MappedMessage;
using ring::RingWire;
using ring::RingWireOptions;

MappedWire::MappedWire(Runtime& runtime, MappedWireOptions options)
    : target_(runtime, std::move(options.target),
              [this](LinkId link, const MappedMessage& message, int passed) {
                return say(link, message, passed);
              }),
      initiator_(std::move(options.initiator),
                 [this](LinkId link, const MappedMessage& message, int passed) {
                   return say(link, message, passed);
                 }) {}

Result<std::unique_ptr<MappedWire>> MappedWire::create(Runtime& runtime, LinkOwner* owner,
                                                       MappedWireOptions options) {
  RingWireOptions ring = options.ring;
  std::unique_ptr<MappedWire> wire(new MappedWire(runtime, std::move(options)));
  ring.side = wire.get();
  REMORA_TRY_RESULT(made, RingWire::create(runtime, owner, ring));
  wire->ring_ = std::move(*made);
  return wire;
}

Status MappedWire::say(LinkId link, const MappedMessage& message, int passed) {
  return ring_->send_side(link, encode(message), passed);
}

void MappedWire::side_up(LinkId link, const HostPeer& peer, Descriptor process) {
  target_.link_up(link, peer, std::move(process));
  initiator_.link_up(link);
}

void MappedWire::side_down(LinkId link) {
  target_.link_down(link);
  initiator_.link_down(link);
}

void MappedWire::side_message(LinkId link, ConstBytes bytes, Descriptor passed) {
  const std::optional<MappedMessage> message = mapped::parse_mapped(bytes);
  if (!message) {
    ring_->cut_off(link);
    return;
  }
  if (static_cast<MappedKind>(message->kind) == MappedKind::ask) {
    target_.ask(link, *message, std::move(passed));
  } else {
    initiator_.answer(link, *message, std::move(passed));
  }
}

std::string MappedWire::describe() const {
  return "READ, WRITE, atomics and FLUSH of processes of the same user are loads and stores on "
         "memory that both map; all else goes by the rings";
}

}  // namespace remora::fabric::nic::joined
