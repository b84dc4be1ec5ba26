// What a caller and a server of durable calls tell each other besides what lies in the log. Between
// processes of one program version; little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "rpc/calls/log_format.h"
#include "rpc/message.h"

namespace remora::rpc::calls {

inline constexpr Kind attach_kind = 2;
inline constexpr Kind ping_kind = 3;
inline constexpr Kind results_kind = 4;  // a notice

// So many notices may be on their way to one caller.
inline constexpr std::uint32_t notices_in_flight = 8;
inline constexpr std::uint32_t notice_bytes = 4096;  // at most

struct AttachRequest {
  std::array<char, log_format::longest_name> name;
  std::uint64_t secret;
  std::uint64_t holder;  // a life of the caller, which picks it at random
  Sequence acknowledged;
  std::uint64_t ring_bytes;  // of a session that is not there yet
  std::uint32_t window;
  Form form;
  std::uint32_t is_fresh;        // this life of the caller has had no part of the session before
  std::uint32_t flush_persists;  // its device declares that FLUSHes are worth as much
};
static_assert(std::has_unique_object_representations_v<AttachRequest>);

struct AttachReply {
  std::uint64_t session;
  std::uint64_t epoch;
  Sequence first;  // what the caller issues next; all before it is in the log, or was
  std::uint64_t ring_address;
  std::uint64_t ring_bytes;
  std::uint32_t ring_key;
  std::uint32_t window;
  Form form;
  std::uint32_t receiver_flushes;  // a call is persistent when the server says so
};
static_assert(std::has_unique_object_representations_v<AttachReply>);

// A notice: this, and `count` results.
struct NoticeHead {
  std::uint64_t epoch;
  std::uint64_t freed;      // the log's head: all before this position may be used again
  Sequence freed_sequence;  // of the entry there
  Sequence persistent;      // up to this one; where the receiver flushes
  std::uint32_t count;
  std::uint32_t slow_down;  // more wait than the server would like
};
static_assert(std::has_unique_object_representations_v<NoticeHead>);

// The bytes of a result follow, and zeros to a multiple of 8.
struct ResultHead {
  Sequence sequence;
  std::uint32_t code;
  std::uint32_t size_bytes;
};
static_assert(std::has_unique_object_representations_v<ResultHead>);

}  // namespace remora::rpc::calls
