// Work requests and their completions: what is posted, and what comes back.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "fabric/types.h"

namespace remora::fabric {

// A piece of local memory, with the key of the region that covers it.
struct Sge {
  std::byte* address = nullptr;
  std::uint32_t size_bytes = 0;
  LocalKey key = 0;
};

// A place in a peer's memory: an address as the peer has it, and the key it gave out.
struct RemoteAddress {
  std::uint64_t address = 0;
  RemoteKey key = 0;
};

// One entry of the send queue. The list of pieces is read while posting; the memory that it names
// belongs to the device until the completion, except with `inline_data`, which copies it at once.
struct SendWork {
  std::uint64_t id = 0;  // comes back in the completion
  Opcode opcode = Opcode::send;
  bool signalled = true;  // a success is reported; a failure always is
  bool inline_data =
      false;               // SEND and WRITE, up to the queue pair's max_inline_bytes; no keys used
  bool fence = false;      // starts only after every earlier READ and atomic has completed
  bool solicited = false;  // SEND and IMM: raises the event of a peer that asked for those only
  std::span<const Sge> pieces =
      {};  // source of SEND and WRITE; target of READ, atomics (8 bytes) and SFLUSH (8 or none)
  RemoteAddress remote = {};    // all but SEND; of a datagram, where it goes (datagram.h)
  std::uint32_t immediate = 0;  // *_imm
  // compare_swap. Of FLUSH and what changes a word: see posted_site.h. Of a SEND or WRITE through a
  // queue pair with told_when_persistent: the id with which that is told.
  std::uint64_t compare = 0;
  std::uint64_t operand = 0;      // compare_swap: the new value; fetch_add: the summand;
                                  // atomic_write, flush_payload: the value
  std::uint32_t flush_bytes = 0;  // flush of a range
  FlushPlacement flush_placement = FlushPlacement::persistence;
  FlushSelect flush_select = FlushSelect::range;
  RemoteAddress word = {};  // flush_payload: where its value goes
};

// One entry of the receive queue.
struct ReceiveWork {
  std::uint64_t id = 0;
  std::span<const Sge> pieces = {};
};

struct WorkCompletion {
  std::uint64_t id = 0;
  WorkStatus status = WorkStatus::success;
  Opcode opcode = Opcode::send;  // has a meaning on success only, as size and immediate
  bool has_immediate = false;
  std::uint32_t immediate = 0;   // of receive_logged: in which place of the log, from 0
  std::uint32_t size_bytes = 0;  // of what arrived: receive, read, atomics, sflush
  QpNumber qp = 0;
};

}  // namespace remora::fabric
