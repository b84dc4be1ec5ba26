// What one side of a ping-pong says of its queue pair, as ibv_rc_pingpong has it: in 52 bytes with
// the zero at the end,
//
//   LID:QPN:PSN:GID     hexadecimal, of 4, 6, 6 and 32 digits
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/queue_pair.h"

namespace remora::cli {

inline constexpr std::size_t introduction_bytes = 52;

// A local identifier means something on InfiniBand alone: 0 is said here, and any is heard.
std::string introduction_text(const fabric::QueuePairAddress& address);
// Nothing when it is no introduction: it comes from outside.
std::optional<fabric::QueuePairAddress> parse_introduction(std::string_view text);

}  // namespace remora::cli
