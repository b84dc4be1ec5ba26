#include "fabric/nic/packet/packet.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/random.h"

namespace remora::fabric::nic {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) {
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

std::vector<std::byte> encoded(const Packet& packet) {
  std::vector<std::byte> out(packet_bytes(packet.opcode, packet.payload_bytes), std::byte{0xee});
  const Bytes payload = encode(packet, out);
  std::fill(payload.begin(), payload.end(), std::byte{0x5a});
  return out;
}

// Exactly as large as its contents, so that a sanitizer sees any byte read beyond them.
bool parses(ConstBytes bytes, Parsed& parsed) {
  const auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  return parse(ConstBytes(exact.get(), bytes.size()), parsed);
}

TEST(Packet, write_only_has_the_bytes_of_the_standard) {
  const Packet packet = {.opcode = PacketOpcode::write_only,
                         .acknowledge_request = true,
                         .queue_pair = 0x123456,
                         .sequence = 0xabcdef,
                         .key = 0xcafebabe,
                         .address = 0x1122334455667788,
                         .length = 5,
                         .payload_bytes = 5};
  EXPECT_EQ(encoded(packet),
            bytes_of({0x0a, 0x30, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef,
                      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0xca, 0xfe, 0xba, 0xbe,
                      0x00, 0x00, 0x00, 0x05, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x00, 0x00, 0x00}));
}

TEST(Packet, flush_has_its_type_before_its_range) {
  const Packet packet = {.opcode = PacketOpcode::flush,
                         .acknowledge_request = true,
                         .queue_pair = 2,
                         .sequence = 1,
                         .key = 3,
                         .address = 4,
                         .length = 5,
                         .flush_placement = 2,
                         .flush_select = 1};
  EXPECT_EQ(encoded(packet),
            bytes_of({0x1c, 0x00, 0xff, 0xff, 0, 0, 0, 2, 0x80, 0, 0, 1, 0, 0, 0, 0x12,
                      0,    0,    0,    0,    0, 0, 0, 4, 0,    0, 0, 3, 0, 0, 0, 5}));
}

TEST(Packet, acknowledgements_and_atomics_have_the_bytes_of_the_standard) {
  const Packet ack = {.opcode = PacketOpcode::atomic_acknowledge,
                      .syndrome = 0x1f,
                      .queue_pair = 1,
                      .sequence = 2,
                      .message_count = 3,
                      .value_before = 0x0102030405060708};
  EXPECT_EQ(encoded(ack), bytes_of({0x12, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 2,
                                    0x1f, 0, 0,    3,    1, 2, 3, 4, 5, 6, 7, 8}));
  const Packet cas = {.opcode = PacketOpcode::compare_swap,
                      .solicited = true,
                      .queue_pair = 1,
                      .sequence = 2,
                      .key = 9,
                      .address = 8,
                      .swap_or_add = 7,
                      .compare = 6};
  EXPECT_EQ(encoded(cas),
            bytes_of({0x13, 0x80, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 8,
                      0,    0,    0,    9,    0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6}));
}

TEST(Packet, datagrams_name_their_sender_and_key) {
  const Packet packet = {.opcode = PacketOpcode::ud_send_only_imm,
                         .queue_pair = 7,
                         .sequence = 2,
                         .message_count = 0x123456,
                         .immediate = 0x0a0b0c0d,
                         .key = 0x11223344};
  EXPECT_EQ(encoded(packet),
            bytes_of({0x65, 0,    0xff, 0xff, 0, 0,    0,    7,    0,    0,    0,    2,
                      0x11, 0x22, 0x33, 0x44, 0, 0x12, 0x34, 0x56, 0x0a, 0x0b, 0x0c, 0x0d}));
}

TEST(Packet, names_nothing_that_it_was_not_told) {
  // Base header with opcode and partition alone, and an AtomicETH or a DETH with immediate.
  EXPECT_EQ(encoded({.opcode = PacketOpcode::compare_swap}),
            bytes_of({0x13, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                      0,    0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(
      encoded({.opcode = PacketOpcode::ud_send_only_imm}),
      bytes_of({0x65, 0, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Packet, knows_its_opcodes_and_no_others) {
  int known = 0;
  for (int code = 0; code < 256; ++code) {
    known += is_packet_opcode(static_cast<std::uint8_t>(code)) ? 1 : 0;
  }
  EXPECT_EQ(known, 25 + 12 + 2 + 5);
  EXPECT_FALSE(is_packet_opcode(0x15));
  EXPECT_FALSE(is_packet_opcode(0x2c));  // an unreliable connection carries no READ
}

// A packet with random values in the fields that its opcode has: what parsing random bytes gives.
bool draw(Random& random, Packet& packet) {
  std::vector<std::byte> bytes(12 + random.below(60));
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random.next());
  }
  const std::uint64_t code = random.below(0x75);
  bytes[0] = static_cast<std::byte>(code < 0x70 ? code : code - 0x70 + 0xc0);
  bytes[1] &= std::byte{0xb0};
  bytes[2] = bytes[3] = std::byte{0xff};
  Parsed parsed;
  const bool ok = parses(bytes, parsed);
  packet = parsed.packet;
  return ok;
}

TEST(Packet, parses_what_was_encoded) {
  Random random(1);
  int packets = 0;
  for (int i = 0; i < 100'000; ++i) {
    Packet packet;
    if (!draw(random, packet)) {
      continue;
    }
    ++packets;
    const std::vector<std::byte> bytes = encoded(packet);
    Parsed parsed;
    ASSERT_TRUE(parse(bytes, parsed));
    ASSERT_EQ(parsed.packet, packet);
    ASSERT_EQ(parsed.payload.size(), packet.payload_bytes);
    ASSERT_EQ(parsed.payload.data(), bytes.data() + header_bytes(packet.opcode));
  }
  EXPECT_GT(packets, 5'000);
}

TEST(Packet, survives_every_truncation_and_change) {
  Random random(2);
  for (int code = 0; code < 256; ++code) {
    if (!is_packet_opcode(static_cast<std::uint8_t>(code))) {
      continue;
    }
    Packet packet;
    packet.opcode = static_cast<PacketOpcode>(code);
    const PacketPayload payload = row_of(packet.opcode).payload;
    packet.payload_bytes = payload == PacketPayload::word     ? 8
                           : payload == PacketPayload::placed ? placed_word_bytes
                                                              : 0;
    const std::vector<std::byte> bytes = encoded(packet);
    Parsed parsed;
    EXPECT_TRUE(parses(bytes, parsed)) << code;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(parses(ConstBytes(bytes).first(size), parsed)) << code << " " << size;
    }
    for (int i = 0; i < 2'000; ++i) {
      std::vector<std::byte> changed = bytes;
      changed[random.below(changed.size())] = static_cast<std::byte>(random.next());
      if (parses(changed, parsed)) {
        EXPECT_LE(parsed.payload.size(), changed.size());
      }
    }
  }
}

TEST(Packet, refuses_a_foreign_version_partition_or_size) {
  Parsed parsed;
  std::vector<std::byte> bytes = encoded({.opcode = PacketOpcode::send_only, .payload_bytes = 4});
  ASSERT_TRUE(parses(bytes, parsed));
  const auto refused = [&](std::size_t at, int value) {
    std::vector<std::byte> changed = bytes;
    changed[at] = static_cast<std::byte>(value);
    return !parses(changed, parsed);
  };
  EXPECT_TRUE(refused(1, 0x01));
  EXPECT_TRUE(refused(2, 0x12));
  EXPECT_FALSE(refused(2, 0x7f));  // a limited member of the same partition
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(parses(bytes, parsed));
}

TEST(PacketSequence, counts_modulo_its_24_bits) {
  EXPECT_EQ(psn_add(0xffffff, 1), 0U);
  EXPECT_EQ(psn_add(5, sequence_mask), 4U);
  EXPECT_EQ(psn_distance(0xffffff, 0), 1);
  EXPECT_EQ(psn_distance(0, 0xffffff), -1);
  EXPECT_EQ(psn_distance(0, 0x7fffff), 0x7fffff);
  EXPECT_EQ(psn_distance(0, 0x800000), -0x800000);
}

}  // namespace
}  // namespace remora::fabric::nic
