// The mistakes that can be planted in the object log. Each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::kv::log_faults {

inline constexpr Fault header_not_flushed{"log-header-not-flushed",
                                          "header and key of a new object are never flushed"};
inline constexpr Fault header_checksum_ignored{"log-header-checksum-ignored",
                                               "recovery believes a header without its checksum"};
inline constexpr Fault numbers_come_again{
    "log-numbers-come-again", "recovery gives a segment the number that a lost one had"};
inline constexpr Fault tail_reused{"log-tail-reused",
                                   "recovery goes on appending behind the last object found"};

inline constexpr std::array all = {&header_not_flushed, &header_checksum_ignored,
                                   &numbers_come_again, &tail_reused};

}  // namespace remora::kv::log_faults
