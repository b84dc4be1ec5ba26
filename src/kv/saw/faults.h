// Mistakes that saw can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/common/inventory_server.h"

namespace remora::kv::saw::faults {

inline constexpr Fault value_not_persisted = {"saw-value-not-persisted",
                                              "the value is never flushed"};
inline constexpr Fault flag_before_value = {
    "saw-flag-before-value", "the durable flag may become persistent before the value"};
inline constexpr Fault flag_not_persisted = {
    "saw-flag-not-persisted", "a put is acknowledged before its durable flag is persistent"};
inline constexpr Fault acknowledged_early = {
    "saw-acknowledged-early", "a put is acknowledged, and its value may never be persistent"};
inline constexpr Fault index_first = {"saw-index-first",
                                      "the index leads to a version when its space is granted"};
inline constexpr Fault send_before_write = {
    "saw-send-before-write", "the client asks for persistence before it has written the value"};
inline constexpr Fault del_not_persisted = {"saw-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault recovery_takes_unflagged = {
    "saw-recovery-takes-unflagged", "recovery takes a version that has no durable flag"};
inline constexpr Fault recovery_takes_first = {
    "saw-recovery-takes-first", "recovery takes the version that it finds first, not the newest"};

inline constexpr CommitFaults of_commit = {flag_before_value, flag_not_persisted,
                                           acknowledged_early};
inline constexpr InventoryFaults of_inventory = {del_not_persisted, recovery_takes_first,
                                                 &recovery_takes_unflagged};

inline constexpr std::array all = {
    &value_not_persisted, &flag_before_value, &flag_not_persisted, &acknowledged_early,
    &index_first,         &send_before_write, &del_not_persisted,  &recovery_takes_unflagged,
    &recovery_takes_first};

}  // namespace remora::kv::saw::faults
