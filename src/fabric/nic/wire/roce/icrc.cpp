#include "fabric/nic/wire/roce/icrc.h"

#include <algorithm>
#include <cstring>

#include "base/racy_copy.h"
#include "fabric/nic/wire/roce/crc32.h"
#include "fabric/nic/wire/roce/roce_limits.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr std::size_t ones_bytes = 8;
constexpr std::size_t v4_header_bytes = 20;
constexpr std::size_t v6_header_bytes = 40;
constexpr std::size_t udp_header_bytes = 8;
constexpr std::size_t base_header_bytes = 12;
constexpr std::size_t masked_byte = 4;
// Of the identification from the end of the headers before the packet.
constexpr std::size_t identification_from_end = udp_header_bytes + v4_header_bytes - 4;

// All that comes before the packet.
struct Prefix {
  std::array<std::byte, ones_bytes + v6_header_bytes + udp_header_bytes> bytes{};
  std::size_t size = 0;

  explicit Prefix(Icrc::Family family)
      : size(ones_bytes + (family == Icrc::Family::v4 ? v4_header_bytes : v6_header_bytes) +
             udp_header_bytes) {}
  std::byte* ip() { return bytes.data() + ones_bytes; }
  std::byte* udp() { return bytes.data() + size - udp_header_bytes; }
  std::uint32_t crc() const { return crc32(ConstBytes(bytes).first(size)); }
};

void put_16(std::byte* at, std::size_t value) {
  at[0] = static_cast<std::byte>(value >> 8);
  at[1] = static_cast<std::byte>(value);
}

void put_lengths(Prefix& prefix, Icrc::Family family, std::size_t packet_size) {
  const std::size_t udp_length = udp_header_bytes + packet_size + limits::icrc_bytes;
  if (family == Icrc::Family::v4) {
    put_16(prefix.ip() + 2, v4_header_bytes + udp_length);
  } else {
    put_16(prefix.ip() + 4, udp_length);
  }
  put_16(prefix.udp() + 4, udp_length);
}

// --- Polynomials over two elements, modulo that of the CRC; bit 31 is the constant ---

constexpr std::uint32_t polynomial = 0xedb88320;
constexpr std::uint32_t one = 0x80000000;

std::uint32_t divided_by_x(std::uint32_t value) {
  return (value & one) != 0 ? (value ^ polynomial) << 1 | 1 : value << 1;
}

std::uint32_t product(std::uint32_t left, std::uint32_t right) {
  std::uint32_t sum = 0;
  for (; left != 0; left <<= 1) {
    sum ^= (left & one) != 0 ? right : 0;
    right = (right & 1) != 0 ? right >> 1 ^ polynomial : right >> 1;
  }
  return sum;
}

std::uint32_t x_to_minus(std::size_t bits) {
  std::uint32_t value = one;
  for (std::size_t i = 0; i < bits; ++i) {
    value = divided_by_x(value);
  }
  return value;
}

}  // namespace

Icrc::Icrc(Family family, std::size_t largest_packet_bytes)
    : family_(family),
      lengths_(largest_packet_bytes / bytes_per_entry + 1),
      masks_(lengths_.size()),
      backward_(lengths_.size()) {
  const std::uint32_t nothing = Prefix(family).crc();
  // Ones at one byte, behind which so many zeros follow.
  std::uint32_t mask =
      crc32(ConstBytes(std::array{std::byte{0xff}})) ^ crc32(ConstBytes(std::array{std::byte{0}}));
  const auto advance_zero = [](std::uint32_t difference) {
    const std::array<std::byte, 1> zero{};
    return crc32(zero, difference) ^ crc32(zero, 0);
  };
  std::size_t zeros = 0;
  std::uint32_t back = x_to_minus(8 * identification_from_end);
  for (std::size_t entry = 0; entry < lengths_.size(); ++entry) {
    const std::size_t size = entry * bytes_per_entry;
    Prefix prefix(family);
    put_lengths(prefix, family, size);
    lengths_[entry] = prefix.crc() ^ nothing;
    for (; size >= base_header_bytes && zeros < size - masked_byte - 1; ++zeros) {
      mask = advance_zero(mask);
    }
    masks_[entry] = mask;
    backward_[entry] = back;
    for (std::size_t i = 0; i < 8 * bytes_per_entry; ++i) {
      back = divided_by_x(back);
    }
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    Prefix prefix(family);
    prefix.ip()[5] = static_cast<std::byte>(byte);
    low_[byte] = family == Family::v4 ? prefix.crc() ^ nothing : 0;
    prefix.ip()[5] = {};
    prefix.ip()[4] = static_cast<std::byte>(byte);
    high_[byte] = family == Family::v4 ? prefix.crc() ^ nothing : 0;
  }
}

Icrc::Path Icrc::path(const IpEndpoint& from, const IpEndpoint& to) const {
  constexpr auto ones = std::byte{0xff};
  Prefix prefix(family_);
  std::fill_n(prefix.bytes.begin(), ones_bytes, ones);
  std::byte* ip = prefix.ip();
  if (family_ == Family::v4) {
    constexpr std::size_t address_at = 12;
    ip[0] = std::byte{0x45};
    ip[1] = ones;
    ip[6] = std::byte{0x40};  // no fragments
    ip[8] = ones;
    ip[9] = std::byte{IPPROTO_UDP};
    ip[10] = ip[11] = ones;
    std::memcpy(ip + address_at, from.address.data() + address_at, 4);
    std::memcpy(ip + address_at + 4, to.address.data() + address_at, 4);
  } else {
    ip[0] = std::byte{0x6f};
    ip[1] = ip[2] = ip[3] = ones;
    ip[6] = std::byte{IPPROTO_UDP};
    ip[7] = ones;
    std::memcpy(ip + 8, from.address.data(), from.address.size());
    std::memcpy(ip + 24, to.address.data(), to.address.size());
  }
  put_16(prefix.udp(), from.port);
  put_16(prefix.udp() + 2, to.port);
  prefix.udp()[6] = prefix.udp()[7] = ones;
  return prefix.crc();
}

std::uint32_t Icrc::of(Path path, ConstBytes packet, std::uint16_t identification) const {
  const std::size_t entry = packet.size() / bytes_per_entry;
  const std::uint32_t headers = path ^ lengths_[entry] ^ effect_of(identification);
  if (packet[masked_byte] == std::byte{0}) [[likely]] {
    return crc32(packet, headers) ^ masks_[entry];
  }
  std::array<std::byte, base_header_bytes> base;
  std::copy_n(packet.begin(), base.size(), base.begin());
  base[masked_byte] = std::byte{0xff};
  return crc32(packet.subspan(base.size()), crc32(base, headers));
}

std::uint32_t Icrc::of_copied(Path path, Bytes packet, ConstBytes payload,
                              std::uint16_t identification) const {
  const std::size_t head_bytes = packet.size() - payload.size();
  if (packet[masked_byte] != std::byte{0}) [[unlikely]] {
    racy_copy(packet.subspan(head_bytes), payload);
    return of(path, packet, identification);
  }
  const std::size_t entry = packet.size() / bytes_per_entry;
  const std::uint32_t headers = path ^ lengths_[entry] ^ effect_of(identification);
  return copy_with_crc32(packet.subspan(head_bytes), payload,
                         crc32(packet.first(head_bytes), headers)) ^
         masks_[entry];
}

bool Icrc::matches(Path path, ConstBytes packet, std::uint32_t icrc, std::uint16_t guess) const {
  const std::uint32_t difference = icrc ^ of(path, packet, guess);
  if (difference == 0) [[likely]] {
    return true;
  }
  return is_identification(difference, packet.size());
}

// Four bytes of the IP header would make it right: identification, flags and offset. Flags that are
// possible: fragments are forbidden, as was taken for granted, or not.
bool Icrc::is_identification(std::uint32_t difference, std::size_t packet_size) const {
  const std::uint32_t wanted = product(difference, backward_[packet_size / bytes_per_entry]);
  return family_ == Family::v4 && (wanted >> 16 & ~0x40u) == 0;
}

bool Icrc::matches_twice(Path path, ConstBytes packet, std::uint32_t icrc,
                         std::uint16_t guess) const {
  const std::uint32_t difference = icrc ^ twice(of(path, packet, guess), packet);
  return difference == 0 ||
         is_identification(product(difference, x_to_minus(8 * packet.size())), packet.size());
}

std::uint32_t Icrc::twice(std::uint32_t icrc, ConstBytes packet) {
  return crc32(packet, icrc);
}

}  // namespace remora::fabric::nic::roce
