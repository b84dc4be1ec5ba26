// How long a sender is asked to wait for a receive: five bits in a NAK.
#pragma once

#include <cstdint>

namespace remora::fabric::nic {

// The code of the shortest wait that is at least so long (the longest there is, beyond that).
std::uint8_t rnr_code(std::uint64_t delay_ns);

// The wait that a code stands for; only its low five bits count.
std::uint64_t rnr_delay_ns(std::uint8_t code);

}  // namespace remora::fabric::nic
