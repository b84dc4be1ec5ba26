#include "cli/nic_pingpong/introduction.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace remora::cli {

using fabric::QueuePairAddress;

namespace {

// The field up to the next colon, or to the end, as a hexadecimal number below the limit.
bool take_number(std::string_view& text, std::uint32_t limit, std::uint32_t& out) {
  const std::size_t size = std::min(text.find(':'), text.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + size, out, 16);
  if (size == 0 || error != std::errc() || end != text.data() + size || out >= limit ||
      size == text.size()) {
    return false;
  }
  text.remove_prefix(size + 1);
  return true;
}

bool take_gid(std::string_view text, fabric::Gid& gid) {
  if (text.size() != 2 * gid.size()) {
    return false;
  }
  for (std::size_t i = 0; i < gid.size(); ++i) {
    const char* at = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, gid[i], 16);
    if (error != std::errc() || end != at + 2) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string introduction_text(const QueuePairAddress& address) {
  std::string text = fmt::format("{:04x}:{:06x}:{:06x}:", 0, address.number, address.first_packet);
  for (const std::uint8_t byte : address.gid) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

std::optional<QueuePairAddress> parse_introduction(std::string_view text) {
  constexpr std::uint32_t numbers = 1u << 24;
  std::uint32_t local_id = 0;
  QueuePairAddress address;
  if (!take_number(text, 1u << 16, local_id) || !take_number(text, numbers, address.number) ||
      !take_number(text, numbers, address.first_packet) || !take_gid(text, address.gid)) {
    return {};
  }
  return address;
}

}  // namespace remora::cli
