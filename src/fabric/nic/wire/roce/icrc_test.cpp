#include "fabric/nic/wire/roce/icrc.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace remora::fabric::nic::roce {
namespace {

constexpr std::size_t largest = 4096 + 64;

IpEndpoint at(const char* address, std::uint16_t port) {
  return {parse_address(address).value(), port};
}

std::vector<std::byte> some_packet(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> packet(size);
  for (std::byte& byte : packet) {
    byte = static_cast<std::byte>(random.next());
  }
  packet[4] = std::byte{0};
  return packet;
}

// The definition, bit by bit, on headers that are written out.
std::uint32_t plain_crc(const std::vector<std::byte>& bytes) {
  std::uint32_t state = ~0u;
  for (const std::byte byte : bytes) {
    state ^= static_cast<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      state = (state & 1) != 0 ? state >> 1 ^ 0xedb88320 : state >> 1;
    }
  }
  return ~state;
}

void append(std::vector<std::byte>& to, std::initializer_list<std::size_t> values) {
  for (const std::size_t value : values) {
    to.push_back(static_cast<std::byte>(value));
  }
}

std::uint32_t by_definition(const IpEndpoint& from, const IpEndpoint& to,
                            std::vector<std::byte> packet, std::size_t id,
                            std::size_t flags = 0x40) {
  std::vector<std::byte> all(8, std::byte{0xff});
  const std::size_t udp = 8 + packet.size() + 4;
  if (from.is_v4()) {
    const std::size_t ip = 20 + udp;
    append(all,
           {0x45, 0xff, ip >> 8, ip & 0xff, id >> 8, id & 0xff, flags, 0, 0xff, 17, 0xff, 0xff});
    for (const IpEndpoint* end : {&from, &to}) {
      append(all, {end->address[12], end->address[13], end->address[14], end->address[15]});
    }
  } else {
    append(all, {0x6f, 0xff, 0xff, 0xff, udp >> 8, udp & 0xff, 17, 0xff});
    for (const IpEndpoint* end : {&from, &to}) {
      for (const std::uint8_t byte : end->address) {
        append(all, {byte});
      }
    }
  }
  const std::size_t source = from.port;
  const std::size_t target = to.port;
  append(all, {source >> 8, source & 0xff, target >> 8, target & 0xff});
  append(all, {udp >> 8, udp & 0xff, 0xff, 0xff});
  packet[4] = std::byte{0xff};
  all.insert(all.end(), packet.begin(), packet.end());
  return plain_crc(all);
}

TEST(Icrc, follows_its_definition) {
  struct Case {
    Icrc::Family family;
    IpEndpoint from;
    IpEndpoint to;
  };
  const Case cases[] = {
      {Icrc::Family::v4, at("127.0.0.1", 4791), at("127.0.0.2", 4791)},
      {Icrc::Family::v4, at("192.0.2.200", 50'000), at("198.51.100.9", 4791)},
      {Icrc::Family::v6, at("fe80::1", 4791), at("2001:db8::77", 4791)},
  };
  for (const Case& one : cases) {
    const Icrc icrc(one.family, largest);
    const Icrc::Path path = icrc.path(one.from, one.to);
    for (const std::size_t size : {12u, 16u, 28u, 96u, 1040u, 4124u, 4160u}) {
      const std::vector<std::byte> packet = some_packet(size, size);
      for (const std::uint16_t id :
           std::initializer_list<std::uint16_t>{0, 1, 63, 0x1234, 0xffff}) {
        const std::uint32_t expected = by_definition(one.from, one.to, packet, id);
        EXPECT_EQ(icrc.of(path, packet, id), expected) << size << " " << id;
      }
    }
  }
}

TEST(Icrc, masks_what_switches_write_into_the_base_header) {
  const Icrc icrc(Icrc::Family::v6, largest);
  const Icrc::Path path = icrc.path(at("::1", 1), at("::1", 2));
  std::vector<std::byte> packet = some_packet(64, 1);
  const std::uint32_t before = icrc.of(path, packet, 0);
  packet[4] = std::byte{0xc0};
  EXPECT_EQ(icrc.of(path, packet, 0), before);
}

TEST(Icrc, is_the_same_while_the_payload_is_copied) {
  const Icrc icrc(Icrc::Family::v4, largest);
  const Icrc::Path path = icrc.path(at("127.0.0.1", 1), at("127.0.0.1", 2));
  for (const std::size_t head : {12u, 28u}) {
    for (const std::size_t size : {4u, 512u, 2048u, 4096u}) {
      for (const std::byte masked : {std::byte{0}, std::byte{0xc0}}) {
        std::vector<std::byte> whole = some_packet(head + size, size);
        whole[4] = masked;
        std::vector<std::byte> packet(whole.begin(), whole.begin() + static_cast<int>(head));
        packet.resize(whole.size());
        EXPECT_EQ(icrc.of_copied(path, packet, ConstBytes(whole).subspan(head), 3),
                  icrc.of(path, whole, 3));
        EXPECT_EQ(packet, whole);
      }
    }
  }
}

TEST(Icrc, matches_whatever_the_identification_was) {
  const IpEndpoint from = at("10.0.0.1", 4791);
  const IpEndpoint to = at("10.0.0.2", 4791);
  const Icrc icrc(Icrc::Family::v4, largest);
  const Icrc::Path path = icrc.path(from, to);
  for (const std::size_t size : {16u, 32u, 4112u}) {
    const std::vector<std::byte> packet = some_packet(size, size);
    for (const std::uint16_t id : std::initializer_list<std::uint16_t>{0, 5, 64, 4096, 0xffff}) {
      const std::uint32_t right = by_definition(from, to, packet, id);
      EXPECT_TRUE(icrc.matches(path, packet, right, id));
      EXPECT_TRUE(icrc.matches(path, packet, right, 7));
      EXPECT_TRUE(icrc.matches(path, packet, by_definition(from, to, packet, id, 0), 7))
          << "fragments may be allowed";
      EXPECT_TRUE(icrc.matches_twice(path, packet, Icrc::twice(right, packet), 7));
      EXPECT_FALSE(icrc.matches(path, packet, Icrc::twice(right, packet), 7));
    }
  }
}

TEST(Icrc, finds_every_single_bit_that_changed) {
  for (const bool v4 : {true, false}) {
    const IpEndpoint from = v4 ? at("10.0.0.1", 4791) : at("fd00::1", 4791);
    const IpEndpoint to = v4 ? at("10.0.0.2", 4791) : at("fd00::2", 4791);
    const Icrc icrc(v4 ? Icrc::Family::v4 : Icrc::Family::v6, largest);
    const Icrc::Path path = icrc.path(from, to);
    std::vector<std::byte> packet = some_packet(96, 3);
    const std::uint32_t right = icrc.of(path, packet, 3);
    for (std::size_t bit = 0; bit < 8 * packet.size(); ++bit) {
      if (bit / 8 == 4) {
        continue;  // masked
      }
      packet[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
      EXPECT_FALSE(icrc.matches(path, packet, right, 3)) << bit;
      packet[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    }
    for (std::uint32_t bit = 0; bit < 32; ++bit) {
      EXPECT_FALSE(icrc.matches(path, packet, right ^ 1u << bit, 3)) << bit;
    }
  }
}

// With IPv4, chance makes two of 2^16 wrong ones look right.
TEST(Icrc, finds_almost_all_noise) {
  const Icrc icrc(Icrc::Family::v4, largest);
  const Icrc::Path path = icrc.path(at("10.0.0.1", 4791), at("10.0.0.2", 4791));
  const std::vector<std::byte> packet = some_packet(96, 4);
  Random random(5);
  int taken = 0;
  for (int i = 0; i < 100'000; ++i) {
    taken += icrc.matches(path, packet, static_cast<std::uint32_t>(random.next()), 0) ? 1 : 0;
  }
  EXPECT_LT(taken, 20);
}

}  // namespace
}  // namespace remora::fabric::nic::roce
