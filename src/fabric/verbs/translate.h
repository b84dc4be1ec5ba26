// The numbers of libibverbs for the words of the contract, and back. Nothing here needs a device.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "fabric/queue_pair.h"
#include "fabric/types.h"
#include "fabric/work.h"

namespace remora::fabric::verbs {

// Every status that libibverbs has; those that a reliable connection cannot bring, and those that
// are not known here, are general_error.
WorkStatus to_status(ibv_wc_status status);

QpState to_state(ibv_qp_state state);

// The opcode of ibv_post_send, or nothing for those that have a call of their own.
std::optional<ibv_wr_opcode> to_opcode(Opcode opcode);

// The code of the shortest time-out that is at least so long: 4.096 us times two to the code. At
// least 1 (0 would be for ever), at most 31.
std::uint8_t timeout_code(std::uint64_t timeout_ns);

std::uint32_t mtu_bytes(ibv_mtu mtu);
// The largest MTU that is at most so large; at least 256.
ibv_mtu to_mtu(std::uint32_t bytes);

// What posting failed for, from the number that libibverbs returns.
Status post_failure(int error_number);

inline ibv_sge to_sge(const Sge& piece) {
  return {reinterpret_cast<std::uintptr_t>(piece.address), piece.size_bytes, piece.key};
}

}  // namespace remora::fabric::verbs
