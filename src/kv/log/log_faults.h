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

inline constexpr Fault damage_taken_for_cut{
    "log-damage-taken-for-cut", "recovery ends a segment at damage before its mark, as at a hole"};
inline constexpr Fault mark_passes_undecided{"log-mark-passes-undecided",
                                             "the mark of a segment passes undecided objects"};
inline constexpr Fault mark_of_now{"log-mark-of-now",
                                   "a mark says what is in the segment when it is written"};
inline constexpr Fault upgrade_leaves_states{
    "log-upgrade-leaves-states", "a store is called up to date while its states are not"};

inline constexpr std::array all = {
    &header_not_flushed,   &header_checksum_ignored, &numbers_come_again, &tail_reused,
    &damage_taken_for_cut, &mark_passes_undecided,   &mark_of_now,        &upgrade_leaves_states};

}  // namespace remora::kv::log_faults
