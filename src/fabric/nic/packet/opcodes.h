// The opcodes of packets, one row each: what headers a packet has, what it may carry, and what it
// is a part of. The top three bits say the transport: 0 the reliable connection, 1 the unreliable
// one, 3 datagrams. The standard leaves the numbers from 0xc0 on to vendors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fabric/opcodes.h"

namespace remora::fabric::nic {

enum class PacketOpcode : std::uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_imm = 0x03,
  send_only = 0x04,
  send_only_imm = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_last_imm = 0x09,
  write_only = 0x0a,
  write_only_imm = 0x0b,
  read_request = 0x0c,
  read_response_first = 0x0d,
  read_response_middle = 0x0e,
  read_response_last = 0x0f,
  read_response_only = 0x10,
  acknowledge = 0x11,
  atomic_acknowledge = 0x12,
  compare_swap = 0x13,
  fetch_add = 0x14,
  // Known so that it is refused by name: a key is taken back by whoever registered the memory, and
  // by nobody else. The responder answers with an invalid request.
  send_last_invalidate = 0x16,
  send_only_invalidate = 0x17,
  flush = 0x1c,
  atomic_write = 0x1d,
  // Unreliable connections.
  uc_send_first = 0x20,
  uc_send_middle = 0x21,
  uc_send_last = 0x22,
  uc_send_last_imm = 0x23,
  uc_send_only = 0x24,
  uc_send_only_imm = 0x25,
  uc_write_first = 0x26,
  uc_write_middle = 0x27,
  uc_write_last = 0x28,
  uc_write_last_imm = 0x29,
  uc_write_only = 0x2a,
  uc_write_only_imm = 0x2b,
  // Datagrams.
  ud_send_only = 0x64,
  ud_send_only_imm = 0x65,
  // Remora's own, for peers that have agreed to them.
  flush_payload = 0xc0,
  flush_imm = 0xc1,
  sflush = 0xc2,
  place_acknowledge = 0xc3,  // of sflush, with the number of a place
  persisted = 0xc4,          // a message that nobody acknowledges, by its last number
};

// Extension headers, in the order in which they follow the base header.
enum PacketPart : std::uint8_t {
  part_feth = 1 << 0,
  part_reth = 1 << 1,
  part_atomic_eth = 1 << 2,
  part_aeth = 1 << 3,
  part_atomic_ack = 1 << 4,
  part_imm = 1 << 5,
  part_ieth = 1 << 6,
  part_deth = 1 << 7,
};

// Placed: an address, 8, its key, 4, four zeros, and a word.
enum class PacketPayload : std::uint8_t { none, word, placed, any };
inline constexpr std::size_t placed_word_bytes = 24;

// What the receiver does with it.
enum class PacketKind : std::uint8_t {
  unknown,   // there is no such opcode
  message,   // a part of a SEND or WRITE: acknowledged with others
  request,   // answered by a response of its own
  response,  // to one of these, or an acknowledgement
  refused,   // known, and never executed
  // Parts of a SEND or WRITE that nobody acknowledges: of an unreliable connection, or a datagram.
  // A queue pair of another transport drops them.
  unreliable,
  datagram,
  told,  // of such a message, to its sender
};

constexpr bool is_unreliable_kind(PacketKind kind) {
  return kind == PacketKind::unreliable || kind == PacketKind::datagram || kind == PacketKind::told;
}

struct PacketRow {
  PacketOpcode opcode = {};
  PacketKind kind = PacketKind::unknown;
  Opcode part_of = Opcode::send;  // the request that it is made for, or answers
  bool begins = false;            // a message, or an answer
  bool ends = false;
  std::uint8_t parts = 0;
  PacketPayload payload = PacketPayload::none;
  std::uint8_t header_bytes = 0;  // follow from the parts
};

inline constexpr std::size_t bth_bytes = 12;
inline constexpr std::size_t reth_bytes = 16;
inline constexpr std::size_t aeth_bytes = 4;
inline constexpr std::size_t deth_bytes = 8;

constexpr std::uint8_t header_bytes_of(std::uint8_t parts) {
  std::size_t size = bth_bytes;
  size += (parts & part_feth) != 0 ? 4 : 0;
  size += (parts & part_deth) != 0 ? deth_bytes : 0;
  size += (parts & part_reth) != 0 ? reth_bytes : 0;
  size += (parts & part_atomic_eth) != 0 ? 28 : 0;
  size += (parts & part_aeth) != 0 ? aeth_bytes : 0;
  size += (parts & part_atomic_ack) != 0 ? 8 : 0;
  size += (parts & part_imm) != 0 ? 4 : 0;
  size += (parts & part_ieth) != 0 ? 4 : 0;
  return static_cast<std::uint8_t>(size);
}

// One place for every number that a byte can hold; those that there are not have no kind.
using PacketRows = std::array<PacketRow, 256>;

constexpr PacketRows by_number(auto... rows) {
  PacketRows numbered{};
  for (PacketRow row : {rows...}) {
    row.header_bytes = header_bytes_of(row.parts);
    numbered[static_cast<std::size_t>(row.opcode)] = row;
  }
  return numbered;
}

// clang-format off
inline constexpr PacketRows packet_rows = by_number(
    PacketRow{PacketOpcode::send_first,           PacketKind::message,  Opcode::send,         true,  false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::send_middle,          PacketKind::message,  Opcode::send,         false, false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::send_last,            PacketKind::message,  Opcode::send,         false, true,  0,                           PacketPayload::any},
    PacketRow{PacketOpcode::send_last_imm,        PacketKind::message,  Opcode::send_imm,     false, true,  part_imm,                    PacketPayload::any},
    PacketRow{PacketOpcode::send_only,            PacketKind::message,  Opcode::send,         true,  true,  0,                           PacketPayload::any},
    PacketRow{PacketOpcode::send_only_imm,        PacketKind::message,  Opcode::send_imm,     true,  true,  part_imm,                    PacketPayload::any},
    PacketRow{PacketOpcode::write_first,          PacketKind::message,  Opcode::write,        true,  false, part_reth,                   PacketPayload::any},
    PacketRow{PacketOpcode::write_middle,         PacketKind::message,  Opcode::write,        false, false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::write_last,           PacketKind::message,  Opcode::write,        false, true,  0,                           PacketPayload::any},
    PacketRow{PacketOpcode::write_last_imm,       PacketKind::message,  Opcode::write_imm,    false, true,  part_imm,                    PacketPayload::any},
    PacketRow{PacketOpcode::write_only,           PacketKind::message,  Opcode::write,        true,  true,  part_reth,                   PacketPayload::any},
    PacketRow{PacketOpcode::write_only_imm,       PacketKind::message,  Opcode::write_imm,    true,  true,  part_reth | part_imm,        PacketPayload::any},
    PacketRow{PacketOpcode::read_request,         PacketKind::request,  Opcode::read,         true,  true,  part_reth,                   PacketPayload::none},
    PacketRow{PacketOpcode::read_response_first,  PacketKind::response, Opcode::read,         true,  false, part_aeth,                   PacketPayload::any},
    PacketRow{PacketOpcode::read_response_middle, PacketKind::response, Opcode::read,         false, false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::read_response_last,   PacketKind::response, Opcode::read,         false, true,  part_aeth,                   PacketPayload::any},
    PacketRow{PacketOpcode::read_response_only,   PacketKind::response, Opcode::read,         true,  true,  part_aeth,                   PacketPayload::any},
    PacketRow{PacketOpcode::acknowledge,          PacketKind::response, Opcode::send,         true,  true,  part_aeth,                   PacketPayload::none},
    PacketRow{PacketOpcode::atomic_acknowledge,   PacketKind::response, Opcode::compare_swap, true,  true,  part_aeth | part_atomic_ack, PacketPayload::none},
    PacketRow{PacketOpcode::compare_swap,         PacketKind::request,  Opcode::compare_swap, true,  true,  part_atomic_eth,             PacketPayload::none},
    PacketRow{PacketOpcode::fetch_add,            PacketKind::request,  Opcode::fetch_add,    true,  true,  part_atomic_eth,             PacketPayload::none},
    PacketRow{PacketOpcode::send_last_invalidate, PacketKind::refused,  Opcode::send,         false, true,  part_ieth,                   PacketPayload::any},
    PacketRow{PacketOpcode::send_only_invalidate, PacketKind::refused,  Opcode::send,         true,  true,  part_ieth,                   PacketPayload::any},
    PacketRow{PacketOpcode::flush,                PacketKind::request,  Opcode::flush,        true,  true,  part_feth | part_reth,       PacketPayload::none},
    PacketRow{PacketOpcode::atomic_write,         PacketKind::request,  Opcode::atomic_write, true,  true,  part_reth,                   PacketPayload::word},
    PacketRow{PacketOpcode::uc_send_first,         PacketKind::unreliable, Opcode::send,         true,  false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::uc_send_middle,        PacketKind::unreliable, Opcode::send,         false, false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::uc_send_last,          PacketKind::unreliable, Opcode::send,         false, true,  0,                           PacketPayload::any},
    PacketRow{PacketOpcode::uc_send_last_imm,      PacketKind::unreliable, Opcode::send_imm,     false, true,  part_imm,                    PacketPayload::any},
    PacketRow{PacketOpcode::uc_send_only,          PacketKind::unreliable, Opcode::send,         true,  true,  0,                           PacketPayload::any},
    PacketRow{PacketOpcode::uc_send_only_imm,      PacketKind::unreliable, Opcode::send_imm,     true,  true,  part_imm,                    PacketPayload::any},
    PacketRow{PacketOpcode::uc_write_first,        PacketKind::unreliable, Opcode::write,        true,  false, part_reth,                   PacketPayload::any},
    PacketRow{PacketOpcode::uc_write_middle,       PacketKind::unreliable, Opcode::write,        false, false, 0,                           PacketPayload::any},
    PacketRow{PacketOpcode::uc_write_last,         PacketKind::unreliable, Opcode::write,        false, true,  0,                           PacketPayload::any},
    PacketRow{PacketOpcode::uc_write_last_imm,     PacketKind::unreliable, Opcode::write_imm,    false, true,  part_imm,                    PacketPayload::any},
    PacketRow{PacketOpcode::uc_write_only,         PacketKind::unreliable, Opcode::write,        true,  true,  part_reth,                   PacketPayload::any},
    PacketRow{PacketOpcode::uc_write_only_imm,     PacketKind::unreliable, Opcode::write_imm,    true,  true,  part_reth | part_imm,        PacketPayload::any},
    PacketRow{PacketOpcode::ud_send_only,          PacketKind::datagram,   Opcode::send,         true,  true,  part_deth,                   PacketPayload::any},
    PacketRow{PacketOpcode::ud_send_only_imm,      PacketKind::datagram,   Opcode::send_imm,     true,  true,  part_deth | part_imm,        PacketPayload::any},
    PacketRow{PacketOpcode::flush_payload,        PacketKind::request,  Opcode::flush_payload, true, true,  part_feth | part_reth,       PacketPayload::placed},
    PacketRow{PacketOpcode::flush_imm,            PacketKind::request,  Opcode::flush_imm,    true,  true,  part_feth | part_reth | part_imm, PacketPayload::none},
    PacketRow{PacketOpcode::sflush,               PacketKind::request,  Opcode::sflush,       true,  true,  0,                           PacketPayload::none},
    PacketRow{PacketOpcode::place_acknowledge,    PacketKind::response, Opcode::sflush,       true,  true,  part_aeth | part_atomic_ack, PacketPayload::none},
    PacketRow{PacketOpcode::persisted,            PacketKind::told,     Opcode::persisted,    true,  true,  0,                           PacketPayload::none});
// clang-format on

constexpr const PacketRow& row_of(PacketOpcode opcode) {
  return packet_rows[static_cast<std::uint8_t>(opcode)];
}

}  // namespace remora::fabric::nic
