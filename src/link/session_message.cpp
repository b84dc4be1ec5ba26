#include "link/session_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/crc32c.h"
#include "base/printable.h"

namespace remora::link {

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
  const bool readable = std::all_of(field.begin(), end, is_printable);
  return padded && readable ? std::optional(std::string(field.begin(), end)) : std::nullopt;
}

ConstBytes checked_bytes(const Message& message) {
  return std::as_bytes(std::span(&message, 1)).first(offsetof(Message, checksum));
}

Status not_a_message() {
  return Status(Code::damaged, "this message does not belong to the session protocol");
}

// Whole lines, as many as fit.
std::string_view tail_of(std::string_view facts) {
  if (facts.size() <= session_format::tail_bytes_max) {
    return facts;
  }
  return facts.substr(0, facts.rfind('\n', session_format::tail_bytes_max - 1) + 1);
}

}  // namespace

std::vector<std::byte> encode(const SessionMessage& message) {
  Message out{};
  out.magic = session_format::magic;
  out.version = session_format::version;
  out.kind = static_cast<std::uint16_t>(message.kind);
  out.code = static_cast<std::uint32_t>(message.reason.code());
  put_text(out.service, message.service);
  put_text(out.design, message.design);
  out.queue_pair = message.queue_pair.number;
  out.first_packet = message.queue_pair.first_packet;
  out.gid = message.queue_pair.gid;
  put_text(out.text, printable(message.reason.ok() ? message.text : message.reason.message()));
  out.nonce = message.nonce;
  out.proof = message.proof;
  const std::string facts = printable(tail_of(message.facts), "\n");
  out.tail_bytes = static_cast<std::uint32_t>(facts.size());
  out.tail_checksum = crc32c(as_bytes(facts));
  out.checksum = crc32c(checked_bytes(out));
  std::vector<std::byte> bytes(sizeof out + facts.size());
  std::memcpy(bytes.data(), &out, sizeof out);
  std::ranges::copy(as_bytes(facts), bytes.begin() + sizeof out);
  return bytes;
}

Result<SessionMessage> decode(ConstBytes bytes) {
  Message in;
  constexpr std::size_t common_bytes = offsetof(Message, kind);
  if (bytes.size() < common_bytes) {
    return not_a_message();
  }
  std::memcpy(&in, bytes.data(), std::min(bytes.size(), sizeof in));
  if (in.magic != session_format::magic) {
    return not_a_message();
  }
  if (in.version != session_format::version) {
    return Status(Code::unsupported,
                  fmt::format("the session protocol is version {} here and {} there; use the same "
                              "version of Remora on both sides",
                              session_format::version, in.version));
  }
  if (bytes.size() < sizeof in || in.checksum != crc32c(checked_bytes(in))) {
    return not_a_message();
  }
  const ConstBytes tail = bytes.subspan(sizeof in);
  const std::string_view facts = as_text(tail);
  std::optional<std::string> service = take_text(in.service);
  std::optional<std::string> design = take_text(in.design);
  std::optional<std::string> text = take_text(in.text);
  const bool is_refusal = in.kind == static_cast<std::uint16_t>(SessionKind::refusal);
  const bool is_facts = in.kind == static_cast<std::uint16_t>(SessionKind::facts);
  const auto is_fact_letter = [](char letter) { return is_printable(letter) || letter == '\n'; };
  if (!service || !design || !text || in.kind < static_cast<std::uint16_t>(SessionKind::ask) ||
      in.kind > static_cast<std::uint16_t>(SessionKind::grow) || in.queue_pair > largest_number ||
      in.first_packet > largest_number || in.code > static_cast<std::uint32_t>(Code::conflict) ||
      (in.code != 0) != is_refusal || in.tail_bytes != tail.size() ||
      tail.size() > session_format::tail_bytes_max || (!tail.empty() && !is_facts) ||
      in.tail_checksum != crc32c(tail) || !std::ranges::all_of(facts, is_fact_letter)) {
    return not_a_message();
  }
  SessionMessage message{.kind = static_cast<SessionKind>(in.kind),
                         .service = *std::move(service),
                         .design = *std::move(design),
                         .queue_pair = {in.queue_pair, in.first_packet, in.gid},
                         .reason = {},
                         .nonce = in.nonce,
                         .proof = in.proof,
                         .facts = std::string(facts)};
  if (is_refusal) {
    message.reason = Status(static_cast<Code>(in.code), *std::move(text));
  } else {
    message.text = *std::move(text);
  }
  return message;
}

}  // namespace remora::link
