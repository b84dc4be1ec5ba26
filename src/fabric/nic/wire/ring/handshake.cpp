#include "fabric/nic/wire/ring/handshake.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/crc32c.h"
#include "base/printable.h"
#include "fabric/nic/wire.h"
#include "fabric/nic/wire/ring/byte_ring.h"

namespace remora::fabric::nic::ring {
namespace {

constexpr std::uint64_t magic = 0x474e495241524d52;  // "RMRARING"

enum Offset : std::size_t {
  magic_at = 0,
  version_at = 8,
  kind_at = 10,
  size_at = 12,
  gid_at = 16,
  ring_bytes_at = 32,
  mtu_bytes_at = 36,
  features_at = 40,
  text_bytes_at = 48,
  code_at = 52,
  flush_worth_at = 56,
  crc_at = 60,
};
static_assert(crc_at + sizeof(std::uint32_t) == handshake_head_bytes);

Status damaged(std::string what) {
  return Status(Code::damaged, "the peer's handshake " + std::move(what) +
                                   ": the peer is not Remora, or is broken");
}

std::uint32_t checksum(ConstBytes bytes) {
  return crc32c(bytes.subspan(handshake_head_bytes), crc32c(bytes.first(crc_at)));
}

std::uint32_t number_of(FlushWorth worth) {
  return worth == FlushWorth::persistent ? 2 : 1;
}

bool is_known_kind(std::uint16_t kind) {
  return kind >= static_cast<std::uint16_t>(HandshakeKind::hello) &&
         kind <= static_cast<std::uint16_t>(HandshakeKind::refusal);
}

bool is_failure_code(std::uint32_t code) {
  return code > static_cast<std::uint32_t>(Code::ok) &&
         code <= static_cast<std::uint32_t>(Code::conflict);
}

Status check_head(ConstBytes bytes) {
  const std::byte* at = bytes.data();
  if (load<std::uint64_t>(at + magic_at) != magic) {
    return damaged("begins with a wrong word");
  }
  const auto version = load<std::uint16_t>(at + version_at);
  if (version != handshake_version) {
    return Status(Code::unsupported, "the peer speaks version " + std::to_string(version) +
                                         " of the ring handshake, this side version " +
                                         std::to_string(handshake_version) +
                                         ": bring both to the same release");
  }
  if (load<std::uint32_t>(at + size_at) != bytes.size()) {
    return damaged("has another size than it says");
  }
  if (load<std::uint32_t>(at + crc_at) != checksum(bytes)) {
    return damaged("fails its checksum");
  }
  return {};
}

// What a message of its kind may not have.
Status check_fields(ConstBytes bytes) {
  const std::byte* at = bytes.data();
  const auto kind = load<std::uint16_t>(at + kind_at);
  const auto worth = load<std::uint32_t>(at + flush_worth_at);
  if (!is_known_kind(kind) || (worth != 1 && worth != 2)) {
    return damaged("is of a kind that this version does not know");
  }
  const std::size_t text_bytes = bytes.size() - handshake_head_bytes;
  const auto code = load<std::uint32_t>(at + code_at);
  const bool refusal = kind == static_cast<std::uint16_t>(HandshakeKind::refusal);
  if (load<std::uint32_t>(at + text_bytes_at) != text_bytes || (!refusal && text_bytes != 0) ||
      (refusal ? !is_failure_code(code) : code != 0)) {
    return damaged("contradicts itself");
  }
  return {};
}

}  // namespace

EncodedHandshake encode(const HandshakeMessage& message) {
  EncodedHandshake encoded = {};
  std::byte* at = encoded.bytes.data();
  const std::size_t text_bytes = std::min(message.text.size(), limits::refusal_text_bytes);
  encoded.size_bytes = handshake_head_bytes + text_bytes;
  store(at + magic_at, magic);
  store(at + version_at, handshake_version);
  store(at + kind_at, static_cast<std::uint16_t>(message.kind));
  store(at + size_at, static_cast<std::uint32_t>(encoded.size_bytes));
  std::memcpy(at + gid_at, message.gid.data(), message.gid.size());
  store(at + ring_bytes_at, message.shape.ring_bytes);
  store(at + mtu_bytes_at, message.shape.mtu_bytes);
  store(at + features_at, message.features);
  store(at + flush_worth_at, number_of(message.flush_worth));
  store(at + text_bytes_at, static_cast<std::uint32_t>(text_bytes));
  store(at + code_at, static_cast<std::uint32_t>(message.code));
  std::copy_n(as_bytes(message.text).data(), text_bytes, at + handshake_head_bytes);
  store(at + crc_at, checksum(encoded.view()));
  return encoded;
}

Result<HandshakeMessage> parse_handshake(ConstBytes bytes) {
  if (bytes.size() < handshake_head_bytes || bytes.size() > handshake_bytes_max) {
    return damaged("has " + std::to_string(bytes.size()) + " bytes");
  }
  REMORA_TRY(check_head(bytes));
  REMORA_TRY(check_fields(bytes));
  const std::byte* at = bytes.data();
  HandshakeMessage message;
  message.kind = static_cast<HandshakeKind>(load<std::uint16_t>(at + kind_at));
  std::memcpy(message.gid.data(), at + gid_at, message.gid.size());
  message.shape = {load<std::uint32_t>(at + ring_bytes_at), load<std::uint32_t>(at + mtu_bytes_at)};
  message.features = load<std::uint64_t>(at + features_at);
  message.flush_worth =
      load<std::uint32_t>(at + flush_worth_at) == 2 ? FlushWorth::persistent : FlushWorth::pushed;
  message.code = static_cast<Code>(load<std::uint32_t>(at + code_at));
  message.text = printable(as_text(bytes.subspan(handshake_head_bytes)));
  return message;
}

Status check_shape(const RingShape& shape) {
  const bool ring_ok = shape.ring_bytes >= limits::ring_bytes_min &&
                       shape.ring_bytes <= limits::ring_bytes_max &&
                       std::has_single_bit(shape.ring_bytes);
  const bool mtu_ok = shape.mtu_bytes >= limits::mtu_bytes_min &&
                      shape.mtu_bytes <= limits::mtu_bytes_max &&
                      shape.mtu_bytes % word_bytes == 0;  // no word lies in two packets
  if (!ring_ok || !mtu_ok ||
      !byte_ring::fits(std::size_t{shape.mtu_bytes} + max_header_bytes, shape.ring_bytes)) {
    return Status(Code::invalid_argument,
                  "no link has rings of " + std::to_string(shape.ring_bytes) +
                      " bytes for packets of " + std::to_string(shape.mtu_bytes) +
                      ": a ring is a power of two from " + std::to_string(limits::ring_bytes_min) +
                      " to " + std::to_string(limits::ring_bytes_max) +
                      " and holds 8/3 of a packet, which is a multiple of 8");
  }
  return {};
}

Status judge_hello(const HandshakeMessage& message, const Gid& own, std::uint32_t own_mtu_bytes,
                   std::uint32_t ring_bytes_max) {
  if (message.kind != HandshakeKind::hello) {
    return damaged("does not begin with a hello");
  }
  REMORA_TRY(check_shape(message.shape));
  if (message.shape.mtu_bytes != own_mtu_bytes) {
    return Status(Code::unsupported, "the connector sends packets of " +
                                         std::to_string(message.shape.mtu_bytes) +
                                         " bytes, the listener of " +
                                         std::to_string(own_mtu_bytes) + ": set both to the same");
  }
  if (message.shape.ring_bytes > ring_bytes_max) {
    return Status(Code::no_space, "the listener takes rings of at most " +
                                      std::to_string(ring_bytes_max) + " bytes");
  }
  if (message.gid == own) {
    return Status(Code::invalid_argument, "a device cannot have a link to itself");
  }
  return {};
}

Status judge_answer(const HandshakeMessage& message, const Gid& own, const RingShape& asked,
                    std::uint64_t offered_features) {
  if (message.kind == HandshakeKind::refusal) {
    return Status(message.code, "the listener refused the link: " + message.text);
  }
  if (message.kind != HandshakeKind::welcome || message.shape != asked ||
      (message.features & ~offered_features) != 0) {
    return damaged("answers a question that was not asked");
  }
  if (message.gid == own) {
    return Status(Code::invalid_argument, "a device cannot have a link to itself");
  }
  return {};
}

Result<Frame> parse_frame(ConstBytes bytes) {
  if (bytes.empty() || bytes.size() > frame_bytes_max) {
    return Status(Code::damaged, "the peer sent a message of no or too many bytes");
  }
  const auto kind = std::to_integer<std::uint8_t>(bytes[0]);
  if (kind == static_cast<std::uint8_t>(FrameKind::control)) {
    return Frame{FrameKind::control, bytes.subspan(1)};
  }
  if (kind == static_cast<std::uint8_t>(FrameKind::side)) {
    return Frame{FrameKind::side, bytes.subspan(1)};
  }
  if (kind == static_cast<std::uint8_t>(FrameKind::lending)) {
    return Frame{FrameKind::lending, bytes.subspan(1)};
  }
  if (kind == static_cast<std::uint8_t>(FrameKind::bell) && bytes.size() == 1) {
    return Frame{FrameKind::bell, {}};
  }
  return Status(Code::damaged, "the peer sent a message of an unknown kind");
}

}  // namespace remora::fabric::nic::ring
