// The messages of the RPC: a head and a body, each message one SEND. Between processes of one
// program version, agreed by the handshake of the store; little-endian.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"

namespace remora::rpc {

// What a request asks for, and what a notice tells: each service has its own.
using Kind = std::uint16_t;

// The low bits of a call's number are the caller's slot, which has one call at a time; the others
// tell the calls of a slot apart.
inline constexpr std::uint32_t slot_bits = 12;
inline constexpr std::uint32_t slot_mask = (1u << slot_bits) - 1;

struct MessageHead {
  std::uint32_t call = 0;  // the caller's number for it, repeated by the reply; 0 in notices
  Kind kind = 0;
  std::uint16_t code = 0;        // of a reply: a Code
  std::uint32_t size_bytes = 0;  // of the body
  std::uint32_t reserved = 0;
};
static_assert(sizeof(MessageHead) == 16);

inline constexpr std::size_t head_bytes = sizeof(MessageHead);

inline void put_head(Bytes message, const MessageHead& head) {
  std::memcpy(message.data(), &head, sizeof head);
}

// The head of a message that arrived; nothing when it is no message.
inline std::optional<MessageHead> read_head(ConstBytes message) {
  MessageHead head;
  if (message.size() < sizeof head) {
    return std::nullopt;
  }
  std::memcpy(&head, message.data(), sizeof head);
  if (head.size_bytes != message.size() - sizeof head || head.reserved != 0 ||
      head.code > static_cast<std::uint16_t>(Code::conflict)) {
    return std::nullopt;
  }
  return head;
}

}  // namespace remora::rpc
