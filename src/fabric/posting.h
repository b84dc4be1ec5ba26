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

// Why a queue pair that was made with these options cannot take this request, in words for people;
// null when it can.
const char* why_not_post(const SendWork& work, const QueuePairOptions& options);
// The same of a datagram, where one may be so long.
const char* why_not_post_datagram(const SendWork& work, const QueuePairOptions& options,
                                  std::uint32_t max_bytes);
// The same of what is posted to receive.
const char* why_not_receive(const ReceiveWork& work, const QueuePairOptions& options);

}  // namespace remora::fabric
