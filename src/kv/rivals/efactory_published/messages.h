// What client and server of eFactory as published say beside the plain messages.
#pragma once

#include <cstdint>

#include "kv/common/messages.h"

namespace remora::kv::efactory_published {

// Notice: a cleaning has begun or ended. Its body is the phase, which is odd while the log is
// cleaned; the highest that a client was told counts. The layout has it too.
inline constexpr rpc::Kind new_phase = first_of_engine;

constexpr bool is_cleaning(std::uint64_t phase) {
  return phase % 2 != 0;
}

}  // namespace remora::kv::efactory_published
