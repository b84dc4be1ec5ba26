// Connection: one client of a Server, as the loop, its inlet and its outlet share it; and what the
// two sides of a connection tell each other before they can talk.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/device.h"
#include "rpc/service.h"

namespace remora::rpc {

// What one side tells the other, by whatever means. A design fills in what it uses; what comes from
// the other side may be anything.
struct Introduction {
  fabric::QueuePairAddress queue_pair = {};  // of the connection
  fabric::QueuePairAddress datagrams = {};   // where datagrams are taken, and by which key
  fabric::QueueKey queue_key = 0;
  fabric::RemoteAddress slots = {};    // of this side's memory that the other WRITEs
  fabric::RemoteAddress results = {};  // of this side's memory that the other READs
  std::uint64_t token = 0;             // which the other repeats in what anybody could send
  std::uint32_t window = 0;            // calls in flight that the slots are for
  std::uint32_t slot_bytes = 0;
};

struct Connection {
  std::uint32_t place = 0;  // below ServerOptions::most_clients; used again after it has gone
  Session session;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::QueuePair> queue_pair;  // null where clients share one (Inlet::connects)
};

// A session's id names its place; ids of work requests name the session and a buffer of it.
inline constexpr std::uint32_t place_bits = 10;
inline constexpr std::uint64_t place_mask = (1u << place_bits) - 1;
inline constexpr std::uint32_t index_bits = 16;
inline constexpr std::uint32_t index_mask = (1u << index_bits) - 1;

constexpr std::uint64_t work_id(SessionId session, std::uint32_t index) {
  return session << index_bits | index;
}
constexpr SessionId session_of(std::uint64_t work) {
  return work >> index_bits;
}
constexpr std::uint32_t index_of(std::uint64_t work) {
  return static_cast<std::uint32_t>(work & index_mask);
}

}  // namespace remora::rpc
