// What every device asks of a request before it takes it.
#pragma once

#include <cstdint>
#include <span>

#include "fabric/opcodes.h"
#include "fabric/queue_pair.h"
#include "fabric/work.h"

namespace remora::fabric {

std::uint64_t total_bytes_of_many(std::span<const Sge> pieces);
inline std::uint64_t total_bytes(std::span<const Sge> pieces) {
  return pieces.size() == 1 ? pieces[0].size_bytes : total_bytes_of_many(pieces);
}

// Whether a queue pair whose two sides have agreed on this may post it.
constexpr bool is_agreed(Opcode opcode, VendorVerbs agreed) {
  switch (opcode) {
    case Opcode::flush_imm:
      return (agreed & vendor_verb(DurableVerb::flush_imm)) != 0;
    case Opcode::flush_payload:
      return (agreed & vendor_verb(DurableVerb::flush_payload)) != 0;
    case Opcode::sflush:
      return (agreed & vendor_verb(DurableVerb::sflush)) != 0;
    default:
      return true;
  }
}
inline constexpr const char* not_agreed =
    "the peer has not agreed to this verb; QueuePair::agreed tells which it has";

// Why a queue pair that was made with these options cannot take this request, in words for people;
// null when it can.
const char* why_not_post(const SendWork& work, const QueuePairOptions& options);
// What is wrong with a FLUSH with payload, or null.
const char* why_not_post_payload(const SendWork& work);
// The same of a datagram, where one may be so long.
const char* why_not_post_datagram(const SendWork& work, const QueuePairOptions& options,
                                  std::uint32_t max_bytes);
// The same of what is posted to receive.
const char* why_not_receive(const ReceiveWork& work, const QueuePairOptions& options);

}  // namespace remora::fabric
