// Packets of connections and datagrams, as RoCEv2 has them between the UDP header and the ICRC: a
// base header, extension headers by opcode, payload, padding to four bytes. Numbers are big-endian.
//
//   BTH          opcode 1, SE/M/pad/version 1, partition 2, 0 1, queue pair 3, A 1, sequence 3
//   RETH         address 8, key 4, length 4
//   AtomicETH    address 8, key 4, swap or add 8, compare 8
//   AETH         syndrome 1, message sequence 3
//   AtomicAckETH value from before 8
//   ImmDt, IETH  4
//   FETH         flush type 4
//   DETH         queue key 4, 0 1, queue pair of the sender 3
//
// The parser takes bytes from outside: it may be handed anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "fabric/nic/packet/opcodes.h"
#include "fabric/types.h"

namespace remora::fabric::nic {

// Syndromes of the AETH.
inline constexpr std::uint8_t syndrome_acknowledge = 0x1f;  // with no limit of credits
inline constexpr std::uint8_t syndrome_rnr = 0x20;          // or-ed with the timer code
// Between those that have agreed on verbs of Remora's own: a medium is at it. Or-ed as the last.
inline constexpr std::uint8_t syndrome_waits = 0x40;
inline constexpr std::uint8_t syndrome_nak_sequence = 0x60;
inline constexpr std::uint8_t syndrome_nak_invalid_request = 0x61;
inline constexpr std::uint8_t syndrome_nak_access = 0x62;
inline constexpr std::uint8_t syndrome_nak_operation = 0x63;

// On wires that lose nothing nobody sends twice, so a requester must be told that a queue pair is
// gone or not connected yet. Such a notice is an acknowledge to a number that no queue pair has;
// its message count is the queue pair that it tells of, its syndrome one of these or an RNR, and
// its sequence names the connection.
inline constexpr std::uint8_t syndrome_gone = 0x7f;
// The same way a requester that has waited long asks whether the peer is there at all, and is told.
inline constexpr std::uint8_t syndrome_asks = 0x7d;
inline constexpr std::uint8_t syndrome_alive = 0x7e;
inline constexpr QpNumber notice_number = 0xffffff;

// The headers of one packet. Fields that its opcode does not have are zero.
struct Packet {
  PacketOpcode opcode = PacketOpcode::send_only;
  bool solicited = false;
  bool acknowledge_request = false;
  std::uint8_t syndrome = 0;         // AETH
  QpNumber queue_pair = 0;           // 24 bits: of the receiver
  PacketSequence sequence = 0;       // 24 bits
  std::uint32_t message_count = 0;   // AETH, 24 bits; DETH: the queue pair of the sender
  std::uint32_t immediate = 0;       // ImmDt
  RemoteKey invalidate_key = 0;      // IETH
  RemoteKey key = 0;                 // RETH, AtomicETH; DETH: the queue key
  std::uint64_t address = 0;         // RETH, AtomicETH
  std::uint32_t length = 0;          // RETH
  std::uint8_t flush_placement = 0;  // FETH, 4 bits: as FlushPlacement
  std::uint8_t flush_select = 0;     // FETH, 2 bits: as FlushSelect
  std::uint64_t swap_or_add = 0;     // AtomicETH
  std::uint64_t compare = 0;         // AtomicETH
  std::uint64_t value_before = 0;    // AtomicAckETH
  std::uint32_t payload_bytes = 0;   // without padding

  friend bool operator==(const Packet&, const Packet&) = default;
};

inline constexpr std::size_t largest_header_bytes = 40;
inline constexpr std::size_t largest_padding_bytes = 3;

// Whether this opcode exists, and how many bytes its headers take.
constexpr bool is_packet_opcode(std::uint8_t code) {
  return packet_rows[code].kind != PacketKind::unknown;
}
constexpr std::size_t header_bytes(PacketOpcode opcode) {
  return row_of(opcode).header_bytes;
}

// What a packet takes in all.
std::size_t packet_bytes(PacketOpcode opcode, std::size_t payload_bytes);

// Writes headers and padding to `out`, which is packet_bytes large; returns the place of the
// payload, for the caller to fill.
Bytes encode(const Packet& packet, Bytes out);
// The headers alone, header_bytes() of them.
void encode_headers(const Packet& packet, std::byte* out);

// Its parts, for whoever sends the commonest of packets and has no time for all the others. The
// base header, and the RETH or AETH, which follows it in a packet that has no other.
inline constexpr std::uint16_t default_partition = 0xffff;
[[gnu::always_inline]] inline void encode_base(const Packet& packet, std::uint32_t padding,
                                               std::byte* out) {
  const std::uint32_t flags = (packet.solicited ? 0x80U : 0U) | padding << 4;
  const std::uint32_t sequence =
      (packet.acknowledge_request ? 0x80000000 : 0) | (packet.sequence & 0xffffff);
  store(out, __builtin_bswap32(static_cast<std::uint32_t>(packet.opcode) << 24 | flags << 16 |
                               default_partition));
  store(out + 4, __builtin_bswap64(std::uint64_t{packet.queue_pair & 0xffffff} << 32 | sequence));
}
[[gnu::always_inline]] inline void encode_reth(const Packet& packet, std::byte* out) {
  store(out, __builtin_bswap64(packet.address));
  store(out + 8, __builtin_bswap64(std::uint64_t{packet.key} << 32 | packet.length));
}

[[gnu::always_inline]] inline void encode_aeth(const Packet& packet, std::byte* out) {
  store(out, __builtin_bswap32(std::uint32_t{packet.syndrome} << 24 |
                               (packet.message_count & 0xffffff)));
}

// The payload of a FLUSH with payload.
struct PlacedWord {
  std::uint64_t address = 0;
  RemoteKey key = 0;
  std::uint64_t value = 0;
};
inline PlacedWord decode_placed_word(ConstBytes payload) {
  std::byte copied[placed_word_bytes];
  std::copy(payload.begin(), payload.end(), copied);
  return {__builtin_bswap64(load<std::uint64_t>(copied)),
          __builtin_bswap32(load<std::uint32_t>(copied + 8)), load<std::uint64_t>(copied + 16)};
}
inline void encode_placed_word(const PlacedWord& word, Bytes payload) {
  store(payload.data(), __builtin_bswap64(word.address));
  store(payload.data() + 8, __builtin_bswap32(word.key));
  store(payload.data() + 12, std::uint32_t{0});
  store(payload.data() + 16, word.value);
}

struct Parsed {
  Packet packet;
  ConstBytes payload;  // within the bytes that were parsed
};

// The headers, copied, and where the payload lies; false when this is no packet. The bytes may
// change while this runs: each header byte is read once.
bool parse(ConstBytes bytes, Parsed& out);

// Sequence numbers count modulo 2^24; half of them lie behind a number, half before it.
inline constexpr std::uint32_t sequence_mask = 0xffffff;

constexpr PacketSequence psn_add(PacketSequence from, std::uint32_t count) {
  return (from + count) & sequence_mask;
}

// How far `to` lies after `from`; negative when it lies before.
constexpr std::int32_t psn_distance(PacketSequence from, PacketSequence to) {
  return static_cast<std::int32_t>((to - from) << 8) >> 8;
}

}  // namespace remora::fabric::nic
