#include "server/session_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/crc32c.h"

namespace remora::server {

using session_format::Message;

namespace {

constexpr std::uint32_t largest_number = (1u << 24) - 1;  // queue pairs and packets have 24 bits

template <std::size_t size>
void put_text(std::array<char, size>& field, std::string_view text) {
  std::ranges::copy(text.substr(0, size), field.begin());
}

// Letters up to the first zero, and nothing but zeros from there.
template <std::size_t size>
std::optional<std::string> take_text(const std::array<char, size>& field) {
  const auto end = std::ranges::find(field, '\0');
  const bool padded = std::all_of(end, field.end(), [](char letter) { return letter == '\0'; });
  const bool readable =
      std::all_of(field.begin(), end, [](char letter) { return letter >= ' ' && letter <= '~'; });
  return padded && readable ? std::optional(std::string(field.begin(), end)) : std::nullopt;
}

ConstBytes checked_bytes(const Message& message) {
  return std::as_bytes(std::span(&message, 1)).first(offsetof(Message, checksum));
}

Status damaged() {
  return Status(Code::damaged, "a message that is not of the session protocol");
}

}  // namespace

std::array<std::byte, sizeof(Message)> encode(const SessionMessage& message) {
  Message out{};
  out.magic = session_format::magic;
  out.version = session_format::version;
  out.kind = static_cast<std::uint16_t>(message.kind);
  out.code = static_cast<std::uint32_t>(message.reason.code());
  put_text(out.engine, message.engine);
  out.queue_pair = message.queue_pair.number;
  out.first_packet = message.queue_pair.first_packet;
  out.gid = message.queue_pair.gid;
  std::string text(message.reason.message());
  std::ranges::replace_if(
      text, [](char letter) { return letter < ' ' || letter > '~'; }, '?');
  put_text(out.text, text);
  out.checksum = crc32c(checked_bytes(out));
  std::array<std::byte, sizeof(Message)> bytes;
  std::memcpy(bytes.data(), &out, sizeof out);
  return bytes;
}

Result<SessionMessage> decode(ConstBytes bytes) {
  Message in;
  constexpr std::size_t common_bytes = offsetof(Message, kind);
  if (bytes.size() < common_bytes) {
    return damaged();
  }
  std::memcpy(&in, bytes.data(), std::min(bytes.size(), sizeof in));
  if (in.magic != session_format::magic) {
    return damaged();
  }
  if (in.version != session_format::version) {
    return Status(Code::unsupported,
                  fmt::format("the session protocol is version {} here and {} there; use the same "
                              "version of Remora on both sides",
                              session_format::version, in.version));
  }
  if (bytes.size() != sizeof in || in.checksum != crc32c(checked_bytes(in))) {
    return damaged();
  }
  std::optional<std::string> engine = take_text(in.engine);
  std::optional<std::string> text = take_text(in.text);
  const bool is_refusal = in.kind == static_cast<std::uint16_t>(SessionKind::refusal);
  if (!engine || !text || in.kind < static_cast<std::uint16_t>(SessionKind::ask) ||
      in.kind > static_cast<std::uint16_t>(SessionKind::refusal) ||
      in.queue_pair > largest_number || in.first_packet > largest_number ||
      in.code > static_cast<std::uint32_t>(Code::timed_out) || (in.code != 0) != is_refusal) {
    return damaged();
  }
  SessionMessage message{.kind = static_cast<SessionKind>(in.kind),
                         .engine = *std::move(engine),
                         .queue_pair = {in.queue_pair, in.first_packet, in.gid},
                         .reason = {}};
  if (is_refusal) {
    message.reason = Status(static_cast<Code>(in.code), *std::move(text));
  }
  return message;
}

}  // namespace remora::server
