// The handshake of two processes on one host: what they say over their socket before a link is up.
// Bytes in, verdict out; no I/O here.
//
// The connector sends a hello together with the descriptor of the shared memory; the listener
// answers with a welcome or a refusal. A message has a head of 64 bytes, little-endian; a refusal
// has its reason, as text, behind that.
//
//    0  u64  magic "RMRARING"            36  u32  mtu_bytes
//    8  u16  version (5)                 40  u64  features
//   10  u16  kind                        48  u32  text bytes, 0 but for refusals
//   12  u32  size of the whole message   52  u32  code of a refusal (base/result.h), else 0
//   16  16   gid of the sender           56  u32  flush worth: 1 pushed, 2 persistent
//   32  u32  ring_bytes                  60  u32  crc32c of bytes 0..59 and of the text
//
// The features of a hello are what the connector can do, those of the welcome what both can. What a
// FLUSH to persistence is worth at the sender of a hello or welcome, its peer is told there. The
// version stands at the same place in every version, so that each can refuse the other by name.
//
// Any thread; no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "fabric/durable.h"
#include "fabric/nic/wire/link_owner.h"
#include "fabric/nic/wire/ring/ring_limits.h"
#include "fabric/types.h"

namespace remora::fabric::nic::ring {

enum class HandshakeKind : std::uint16_t { hello = 1, welcome = 2, refusal = 3 };

inline constexpr std::uint16_t handshake_version = 5;

// Features that two sides may have in common.
inline constexpr std::uint64_t feature_side = 1;     // side messages, with descriptors
inline constexpr std::uint64_t feature_lending = 2;  // records whose payload lies elsewhere
// The verbs of Remora's own (fabric/durable.h), a bit each: 4 to 32.
constexpr std::uint64_t features_of(VendorVerbs verbs) {
  return std::uint64_t{verbs & all_vendor_verbs} << 2;
}
constexpr VendorVerbs verbs_of(std::uint64_t features) {
  return static_cast<VendorVerbs>(features >> 2) & all_vendor_verbs;
}
inline constexpr std::size_t handshake_head_bytes = 64;
inline constexpr std::size_t handshake_bytes_max =
    handshake_head_bytes + limits::refusal_text_bytes;

// What a link is made of; both sides must agree.
struct RingShape {
  std::uint32_t ring_bytes = limits::ring_bytes;
  std::uint32_t mtu_bytes = limits::mtu_bytes;

  bool operator==(const RingShape&) const = default;
};

struct HandshakeMessage {
  HandshakeKind kind = HandshakeKind::hello;
  Gid gid{};
  RingShape shape = {};
  std::uint64_t features = 0;
  FlushWorth flush_worth = FlushWorth::persistent;
  Code code = Code::ok;   // of a refusal
  std::string text = {};  // of a refusal; what is too long is cut
};

// Messages of a link that is up: the first byte says what it is.
enum class FrameKind : std::uint8_t {
  control = 1,  // the application's bytes follow
  bell = 2,     // nothing follows: wakes a sleeper
  side = 3,     // bytes for a short cut, perhaps with a descriptor; only with feature_side
  lending = 4,  // of lending.h, perhaps with a descriptor; only with feature_lending
};
inline constexpr std::size_t frame_bytes_max = 1 + control_bytes_max;

struct EncodedHandshake {
  std::array<std::byte, handshake_bytes_max> bytes;
  std::size_t size_bytes;
  ConstBytes view() const { return ConstBytes(bytes).first(size_bytes); }
};
EncodedHandshake encode(const HandshakeMessage& message);

// The message, if these bytes are exactly one: unsupported for another version, damaged for
// anything else that is wrong.
Result<HandshakeMessage> parse_handshake(ConstBytes bytes);

// Whether a ring of this shape can be made at all.
Status check_shape(const RingShape& shape);

// The listener's verdict on a message: success for a hello that it can serve.
Status judge_hello(const HandshakeMessage& message, const Gid& own, std::uint32_t own_mtu_bytes,
                   std::uint32_t ring_bytes_max);

// The connector's verdict on the answer: success for the welcome to its hello; a refusal becomes
// the Status that it carries.
Status judge_answer(const HandshakeMessage& message, const Gid& own, const RingShape& asked,
                    std::uint64_t offered_features = 0);

// What a frame carries: the application's bytes, or nothing for a bell; damaged for another kind.
struct Frame {
  FrameKind kind = FrameKind::bell;
  ConstBytes payload;
};
Result<Frame> parse_frame(ConstBytes bytes);

}  // namespace remora::fabric::nic::ring
