// Opcodes: what each kind of request is, one row each. A new one is an enumerator (types.h), a row
// here, its packets (nic/packet/opcodes.h) and how a responder executes it; all else reads the
// rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fabric/types.h"

namespace remora::fabric {

// What goes to the peer beside headers.
enum class Payload : std::uint8_t {
  none,
  word,     // eight bytes, which the request itself holds
  placed,   // the same, and where they go
  message,  // what its pieces hold, or its inline data: any number of packets
};

// What comes back.
enum class Answer : std::uint8_t {
  acknowledgement,  // one for any number of requests
  confirmation,     // a response of its own that brings nothing
  value,            // the word from before, for its piece
  bytes,            // as many as its pieces take: any number of packets
  place,            // where in a log something is: a number, for its piece if it has one
};

// The queue pairs that can carry it.
using Transports = std::uint8_t;
constexpr Transports carried_by(Transport transport) {
  return static_cast<Transports>(1U << static_cast<unsigned>(transport));
}
inline constexpr Transports connected = carried_by(Transport::rc) | carried_by(Transport::uc);
inline constexpr Transports every_transport = connected | carried_by(Transport::ud);

struct OpcodeRow {
  Opcode opcode;
  std::string_view name;
  bool is_posted;  // to a send queue; the others are told by completions alone
  Payload payload;
  Answer answer;
  bool has_immediate;
  AccessFlags rights;  // to the peer's memory; of FLUSH those for the placements that it asks for
  Transports transports;
  bool is_vendor;  // Remora's own: only devices of Remora know it
};

inline constexpr std::array opcode_rows = {
    // clang-format off
    OpcodeRow{Opcode::send,         "send",         true,  Payload::message, Answer::acknowledgement, false, 0,             every_transport,           false},
    OpcodeRow{Opcode::send_imm,     "send-imm",     true,  Payload::message, Answer::acknowledgement, true,  0,             every_transport,           false},
    OpcodeRow{Opcode::write,        "write",        true,  Payload::message, Answer::acknowledgement, false, remote_write,  connected,                 false},
    OpcodeRow{Opcode::write_imm,    "write-imm",    true,  Payload::message, Answer::acknowledgement, true,  remote_write,  connected,                 false},
    OpcodeRow{Opcode::read,         "read",         true,  Payload::none,    Answer::bytes,           false, remote_read,   carried_by(Transport::rc), false},
    OpcodeRow{Opcode::compare_swap, "cas",          true,  Payload::none,    Answer::value,           false, remote_atomic, carried_by(Transport::rc), false},
    OpcodeRow{Opcode::fetch_add,    "fetch-add",    true,  Payload::none,    Answer::value,           false, remote_atomic, carried_by(Transport::rc), false},
    OpcodeRow{Opcode::atomic_write, "atomic-write", true,  Payload::word,    Answer::confirmation,    false, remote_write,  carried_by(Transport::rc), false},
    OpcodeRow{Opcode::flush,        "flush",        true,  Payload::none,    Answer::confirmation,    false, flush_visibility | flush_persistence, carried_by(Transport::rc), false},
    OpcodeRow{Opcode::flush_imm,    "flush-imm",    true,  Payload::none,    Answer::confirmation,    true,  flush_visibility | flush_persistence, carried_by(Transport::rc), true},
    OpcodeRow{Opcode::flush_payload, "flush-payload", true, Payload::placed, Answer::confirmation,    false, flush_visibility | flush_persistence, carried_by(Transport::rc), true},
    OpcodeRow{Opcode::sflush,       "sflush",       true,  Payload::none,    Answer::place,           false, 0,             carried_by(Transport::rc), true},
    OpcodeRow{Opcode::receive,      "receive",      false, Payload::none,    Answer::acknowledgement, false, 0,             every_transport,           false},
    OpcodeRow{Opcode::receive_imm,  "receive-imm",  false, Payload::none,    Answer::acknowledgement, true,  0,             connected,                 false},
    OpcodeRow{Opcode::receive_logged, "receive-logged", false, Payload::none, Answer::acknowledgement, false, 0,           every_transport,           true},
    OpcodeRow{Opcode::persisted,    "persisted",    false, Payload::none,    Answer::acknowledgement, false, 0,             every_transport,           true},
    // clang-format on
};

// The row of an opcode that there is.
constexpr const OpcodeRow& row_of(Opcode opcode) {
  return opcode_rows[static_cast<std::size_t>(opcode)];
}

// Opcodes that have something in common: asking costs one instruction.
class OpcodeSet {
 public:
  template <typename Which>
  static constexpr OpcodeSet of(Which which) {
    static_assert(opcode_rows.size() <= 32);
    OpcodeSet set;
    for (std::size_t i = 0; i < opcode_rows.size(); ++i) {
      set.bits_ |= which(opcode_rows[i]) ? 1U << i : 0U;
    }
    return set;
  }
  // Of an opcode that there is.
  constexpr bool has(Opcode opcode) const {
    return (bits_ >> static_cast<unsigned>(opcode) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

// Whether a request carries bytes of its pieces to the peer: SEND and WRITE.
constexpr bool carries_message(Opcode opcode) {
  constexpr OpcodeSet set =
      OpcodeSet::of([](const OpcodeRow& row) { return row.payload == Payload::message; });
  return set.has(opcode);
}

// Whether it, or its answer, may take more packets than one.
constexpr bool may_span_packets(Opcode opcode) {
  constexpr OpcodeSet set = OpcodeSet::of([](const OpcodeRow& row) {
    return row.payload == Payload::message || row.answer == Answer::bytes;
  });
  return set.has(opcode);
}

// Whether the peer answers with something of its own, not with a mere acknowledgement.
constexpr bool is_answered(Opcode opcode) {
  constexpr OpcodeSet set =
      OpcodeSet::of([](const OpcodeRow& row) { return row.answer != Answer::acknowledgement; });
  return set.has(opcode);
}

// Whether the answer brings bytes for local memory.
constexpr bool brings_bytes(Opcode opcode) {
  constexpr OpcodeSet set = OpcodeSet::of([](const OpcodeRow& row) {
    return row.answer == Answer::bytes || row.answer == Answer::value ||
           row.answer == Answer::place;
  });
  return set.has(opcode);
}

// READ-MODIFY-WRITEs, which return what was there before.
constexpr bool is_atomic(Opcode opcode) {
  constexpr OpcodeSet set =
      OpcodeSet::of([](const OpcodeRow& row) { return row.answer == Answer::value; });
  return set.has(opcode);
}

// Whether it changes one aligned word of the peer's: these, and ATOMIC_WRITE.
constexpr bool changes_word(Opcode opcode) {
  constexpr OpcodeSet set = OpcodeSet::of([](const OpcodeRow& row) {
    return row.answer == Answer::value || row.payload == Payload::word;
  });
  return set.has(opcode);
}

// FLUSH, with whatever goes along.
constexpr bool is_flush(Opcode opcode) {
  constexpr OpcodeSet set =
      OpcodeSet::of([](const OpcodeRow& row) { return (row.rights & flush_persistence) != 0; });
  return set.has(opcode);
}

// Remora's own.
constexpr bool is_vendor(Opcode opcode) {
  constexpr OpcodeSet set = OpcodeSet::of([](const OpcodeRow& row) { return row.is_vendor; });
  return set.has(opcode);
}

// Whether it names memory of the peer's, by address and key.
constexpr bool names_memory(Opcode opcode) {
  constexpr OpcodeSet set = OpcodeSet::of([](const OpcodeRow& row) { return row.rights != 0; });
  return set.has(opcode);
}

// Whether it takes immediate data along.
constexpr bool has_immediate(Opcode opcode) {
  constexpr OpcodeSet set = OpcodeSet::of([](const OpcodeRow& row) { return row.has_immediate; });
  return set.has(opcode);
}

// A row lies where its opcode says.
static_assert([] {
  for (std::size_t i = 0; i < opcode_rows.size(); ++i) {
    if (opcode_rows[i].opcode != static_cast<Opcode>(i)) {
      return false;
    }
  }
  return opcode_rows.size() == static_cast<std::size_t>(Opcode::persisted) + 1;
}());

}  // namespace remora::fabric
