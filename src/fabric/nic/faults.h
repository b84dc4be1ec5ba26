// The mistakes that a device with verbs for durability can make.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::fabric::nic {

inline constexpr Fault payload_before_bytes = {
    "payload-before-bytes",
    "a FLUSH stores its payload before the bytes that it covers are persistent"};
inline constexpr Fault immediate_before_bytes = {
    "immediate-before-bytes",
    "a FLUSH with immediate consumes its receive before the bytes that it covers are persistent"};
inline constexpr Fault sflush_before_copy = {
    "sflush-before-copy", "SFLUSH is answered before the second copy has come to the log"};
inline constexpr Fault told_before_move = {
    "told-before-move",
    "the receive of a message is told before the message was moved, and may be posted again"};
inline constexpr Fault operator_before_data = {
    "operator-before-data", "the first word of a message is stored before the rest is persistent"};
inline constexpr Fault place_before_free = {
    "place-before-free", "a message is moved to a place that was not given back"};
inline constexpr Fault rflush_before_drain = {
    "rflush-before-drain", "RFlush tells the sender before what has arrived is persistent"};

inline constexpr std::array durable_faults = {
    &payload_before_bytes, &immediate_before_bytes, &sflush_before_copy, &told_before_move,
    &operator_before_data, &place_before_free,      &rflush_before_drain};

}  // namespace remora::fabric::nic
