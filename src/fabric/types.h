// The words of verbs, said in C++. Names and meanings are those of libibverbs, so that an adapter
// to it is thin; values that travel on the wire or through libibverbs are the same numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace remora::fabric {

using QpNumber = std::uint32_t;        // 24 bits
using PacketSequence = std::uint32_t;  // 24 bits
using LocalKey = std::uint32_t;
using RemoteKey = std::uint32_t;
using QueueKey = std::uint32_t;  // of a datagram and of the queue pair that takes it

// Who a device is on its wire: for RoCE its IP address, for the wires of one host 16 random bytes.
using Gid = std::array<std::uint8_t, 16>;

// Rights on a memory region. An operation needs every right that it names, not any of them.
enum Access : std::uint32_t {
  local_read = 0,  // always granted
  local_write = 1 << 0,
  remote_write = 1 << 1,  // WRITE and atomic_write
  remote_read = 1 << 2,
  remote_atomic = 1 << 3,  // compare_swap and fetch_add
  flush_visibility = 1 << 8,
  flush_persistence = 1 << 9,
  // Not a right but a relaxation: bytes of a WRITE may appear in any order (P4 does not hold). For
  // memory that no CPU polls (readers verify a checksum); it spares the device a wait.
  relaxed_order = 1 << 20,
  // Not a right but a demand: what peers write goes past the caches of the CPU to the memory behind
  // them, though DMA goes into the caches elsewhere (DDIO). A device that cannot keep it refuses
  // the region as unsupported.
  past_caches = 1 << 21,
  // Not a right but a demand: what peers WRITE here the device makes persistent by itself, and only
  // then tells the peer (RFlush). It needs the region that makes the bytes persistent.
  flushes_writes = 1 << 22,
};
using AccessFlags = std::uint32_t;
inline constexpr AccessFlags every_access =
    local_write | remote_write | remote_read | remote_atomic | flush_visibility | flush_persistence;

// What each of them is stands in opcodes.h.
enum class Opcode : std::uint8_t {
  send,
  send_imm,
  write,
  write_imm,
  read,
  compare_swap,
  fetch_add,
  atomic_write,
  flush,
  flush_imm,
  flush_payload,
  sflush,
  receive,         // in completions: a SEND arrived
  receive_imm,     // in completions: a WRITE or FLUSH with IMM consumed a receive
  receive_logged,  // in completions: a SEND arrived, and was moved to a log
  persisted,       // in completions: the peer has told that a message is persistent
};
std::string_view to_string(Opcode opcode);

// Kinds of queue pairs: reliable connection, unreliable connection, unreliable datagram.
enum class Transport : std::uint8_t { rc, uc, ud };

enum class QpState : std::uint8_t { reset, init, ready_to_receive, ready_to_send, error };
std::string_view to_string(QpState state);

// How a work request ended. Same meanings as ibv_wc_status.
enum class WorkStatus : std::uint8_t {
  success,
  local_length_error,        // the message does not fit: too long for the device or the receive
  local_qp_operation_error,  // the queue pair cannot do this
  local_protection_error,    // a local key is wrong, out of bounds, or lacks local_write
  flushed,                   // never executed: the queue pair went to the error state
  bad_response,              // the responder sent something that makes no sense
  local_access_error,        // an inbound operation was refused on this side
  remote_invalid_request,    // the responder cannot do that (length, opcode, no receive fits)
  remote_access_error,       // a remote key is wrong, out of bounds, or lacks a right
  remote_operation_error,    // the responder failed while executing
  retry_exceeded,            // no acknowledgement: the peer or the wire is gone
  rnr_retry_exceeded,  // the peer had no receive posted, or its bytes not there, again and again
  general_error,
};
std::string_view to_string(WorkStatus status);

// What a FLUSH asks for (the placement type of the standard).
enum class FlushPlacement : std::uint8_t {
  visibility = 1,   // whoever reads from now on, CPU or NIC, sees the bytes
  persistence = 2,  // and they survive a power cut
};

enum class FlushSelect : std::uint8_t {
  range = 0,   // the bytes named
  region = 1,  // the whole memory region
};

}  // namespace remora::fabric
