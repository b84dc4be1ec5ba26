#include "fabric/nic/wire/ring/host_link.h"

#include <algorithm>
#include <array>

#include "fabric/nic/wire.h"

namespace remora::fabric::nic::ring {
namespace {

// Ring 0 leads from the connector to the listener.
std::size_t outgoing(HostEnd end) {
  return end == HostEnd::connector ? 0 : 1;
}

HandshakeMessage message_of(HandshakeKind kind, const HandshakeTerms& terms) {
  return HandshakeMessage{.kind = kind,
                          .gid = terms.gid,
                          .shape = terms.shape,
                          .features = terms.features,
                          .flush_worth = terms.flush_worth};
}

}  // namespace

HostLink::HostLink(HostSocket socket, SharedSegment memory, const HostPeer& peer, HostEnd end,
                   std::uint32_t mtu_bytes, std::uint64_t features, FlushWorth flush_worth)
    : socket_(std::move(socket)),
      memory_(std::move(memory)),
      peer_(peer),
      features_(features),
      flush_worth_(flush_worth),
      producer_(memory_.head().rings[outgoing(end)], memory_.ring_data(outgoing(end)),
                mtu_bytes + max_header_bytes),
      consumer_(memory_.head().rings[1 - outgoing(end)], memory_.ring_data(1 - outgoing(end)),
                mtu_bytes + max_header_bytes) {
  memory_.close_descriptor();
}

void HostLink::revoke() {
  memory_.head().revoked.store(1, std::memory_order_release);
  socket_.shut_down();
}

void HostLink::ring_bell() {
  const std::byte bell{static_cast<std::uint8_t>(FrameKind::bell)};
  // It fails when the peer has unread messages, which wake it as well, or is gone.
  (void)socket_.send(ConstBytes(&bell, 1));
}

namespace {

Status send_frame(HostSocket& socket, FrameKind kind, ConstBytes bytes, int passed_descriptor) {
  if (bytes.size() > control_bytes_max) {
    return Status(Code::invalid_argument, "a control message has at most " +
                                              std::to_string(control_bytes_max) +
                                              " bytes, this one " + std::to_string(bytes.size()));
  }
  std::array<std::byte, frame_bytes_max> frame;
  frame[0] = std::byte{static_cast<std::uint8_t>(kind)};
  std::copy(bytes.begin(), bytes.end(), frame.begin() + 1);
  return socket.send(ConstBytes(frame).first(1 + bytes.size()), passed_descriptor);
}

}  // namespace

Status HostLink::send_control(ConstBytes bytes) {
  return send_frame(socket_, FrameKind::control, bytes, -1);
}

Status HostLink::send_side(ConstBytes bytes, int passed_descriptor) {
  return send_frame(socket_, FrameKind::side, bytes, passed_descriptor);
}

Status HostLink::send_lending(ConstBytes bytes, int passed_descriptor) {
  return send_frame(socket_, FrameKind::lending, bytes, passed_descriptor);
}

HostLink::Control HostLink::poll_control(Bytes buffer) {
  std::size_t size_bytes = 0;
  const bool has_side = (features_ & feature_side) != 0;
  const bool has_lending = (features_ & feature_lending) != 0;
  Descriptor passed;
  const HostSocket::Got got =
      socket_.receive(buffer, size_bytes, has_side || has_lending ? &passed : nullptr);
  if (got != HostSocket::Got::message) {
    return {got, {}, {}};
  }
  const Result<Frame> frame = parse_frame(buffer.first(size_bytes));
  const bool is_side = frame.ok() && frame->kind == FrameKind::side;
  const bool is_lending = frame.ok() && frame->kind == FrameKind::lending;
  if (!frame.ok() || (is_side && !has_side) || (is_lending && !has_lending) ||
      (!is_side && !is_lending && passed.open())) {
    return {HostSocket::Got::too_much, {}, {}};
  }
  return {got, *frame, std::move(passed)};
}

Result<HostHandshake> HostHandshake::connect(const std::string& path, const HandshakeTerms& terms) {
  REMORA_TRY(check_shape(terms.shape));
  REMORA_TRY_RESULT(socket, HostSocket::connect(path));
  REMORA_TRY_RESULT(memory, SharedSegment::create(terms.shape.ring_bytes));
  const EncodedHandshake hello = encode(message_of(HandshakeKind::hello, terms));
  REMORA_TRY(socket->send(hello.view(), memory->descriptor()));
  memory->close_descriptor();
  HostHandshake handshake(std::move(*socket), terms, HostEnd::connector);
  handshake.memory_.emplace(std::move(*memory));
  return handshake;
}

HostHandshake HostHandshake::accept(HostSocket socket, const HandshakeTerms& terms) {
  return HostHandshake(std::move(socket), terms, HostEnd::listener);
}

Result<std::optional<HostLink>> HostHandshake::step(const Admit& admit) {
  std::array<std::byte, handshake_bytes_max> buffer;
  std::size_t size_bytes = 0;
  Descriptor passed;
  const bool listens = end_ == HostEnd::listener;
  switch (socket_.receive(buffer, size_bytes, listens ? &passed : nullptr)) {
    case HostSocket::Got::nothing:
      return std::optional<HostLink>();
    case HostSocket::Got::closed:
      return Status(Code::closed, "the peer hung up during the handshake");
    case HostSocket::Got::too_much: {
      const Status reason(Code::damaged,
                          "the peer's handshake has too many bytes or too many descriptors");
      refuse(reason);
      return reason;
    }
    case HostSocket::Got::message:
      break;
  }
  const ConstBytes message = ConstBytes(buffer).first(size_bytes);
  Result<HostLink> link =
      listens ? welcome(message, std::move(passed), admit) : finish(message, admit);
  if (!link.ok()) {
    refuse(link.status());
    return link.status();
  }
  return std::optional<HostLink>(std::move(*link));
}

void HostHandshake::refuse(const Status& reason) {
  if (end_ != HostEnd::listener) {
    return;
  }
  HandshakeMessage refusal = message_of(HandshakeKind::refusal, terms_);
  refusal.code = reason.code();
  refusal.text = reason.message();
  // Who does not take it will see the socket close.
  (void)socket_.send(encode(refusal).view());
}

Result<HostLink> HostHandshake::welcome(ConstBytes hello, Descriptor memory, const Admit& admit) {
  REMORA_TRY_RESULT(message, parse_handshake(hello));
  REMORA_TRY(judge_hello(*message, terms_.gid, terms_.shape.mtu_bytes, terms_.ring_bytes_max));
  if (!memory.open()) {
    return Status(Code::invalid_argument, "the hello came without shared memory");
  }
  REMORA_TRY_RESULT(identity, socket_.identity());
  const HostPeer peer{message->gid, *identity};
  REMORA_TRY(admit(peer));
  REMORA_TRY_RESULT(adopted, SharedSegment::adopt(std::move(memory), message->shape.ring_bytes));
  HandshakeMessage answer = message_of(HandshakeKind::welcome, terms_);
  answer.shape = message->shape;
  answer.features &= message->features;
  REMORA_TRY(socket_.send(encode(answer).view()));
  return HostLink(std::move(socket_), std::move(*adopted), peer, end_, answer.shape.mtu_bytes,
                  answer.features, message->flush_worth);
}

Result<HostLink> HostHandshake::finish(ConstBytes answer, const Admit& admit) {
  REMORA_TRY_RESULT(message, parse_handshake(answer));
  REMORA_TRY(judge_answer(*message, terms_.gid, terms_.shape, terms_.features));
  REMORA_TRY_RESULT(identity, socket_.identity());
  const HostPeer peer{message->gid, *identity};
  REMORA_TRY(admit(peer));
  return HostLink(std::move(socket_), std::move(*memory_), peer, end_, terms_.shape.mtu_bytes,
                  message->features, message->flush_worth);
}

}  // namespace remora::fabric::nic::ring
