// Mistakes that rpc can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/common/inventory_server.h"

namespace remora::kv::rpc_store::faults {

inline constexpr Fault value_not_persisted = {"rpc-value-not-persisted",
                                              "the value is never flushed"};
inline constexpr Fault flag_before_value = {
    "rpc-flag-before-value", "the durable flag may become persistent before the value"};
inline constexpr Fault flag_not_persisted = {
    "rpc-flag-not-persisted", "a put is acknowledged before its durable flag is persistent"};
inline constexpr Fault acknowledged_early = {
    "rpc-acknowledged-early", "a put is acknowledged, and its value may never be persistent"};
inline constexpr Fault del_not_persisted = {"rpc-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault recovery_takes_unflagged = {
    "rpc-recovery-takes-unflagged", "recovery takes a version that has no durable flag"};
inline constexpr Fault recovery_takes_first = {
    "rpc-recovery-takes-first", "recovery takes the version that it finds first, not the newest"};

inline constexpr CommitFaults of_commit = {flag_before_value, flag_not_persisted,
                                           acknowledged_early};
inline constexpr InventoryFaults of_inventory = {del_not_persisted, recovery_takes_first,
                                                 &recovery_takes_unflagged};

inline constexpr std::array all = {
    &value_not_persisted, &flag_before_value,        &flag_not_persisted,  &acknowledged_early,
    &del_not_persisted,   &recovery_takes_unflagged, &recovery_takes_first};

}  // namespace remora::kv::rpc_store::faults
