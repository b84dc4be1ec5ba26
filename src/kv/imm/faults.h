// Mistakes that imm can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/common/inventory_server.h"

namespace remora::kv::imm::faults {

inline constexpr Fault value_not_persisted = {"imm-value-not-persisted",
                                              "the value is never flushed"};
inline constexpr Fault flag_before_value = {
    "imm-flag-before-value", "the durable flag may become persistent before the value"};
inline constexpr Fault flag_not_persisted = {
    "imm-flag-not-persisted", "a put is acknowledged before its durable flag is persistent"};
inline constexpr Fault acknowledged_early = {
    "imm-acknowledged-early", "a put is acknowledged, and its value may never be persistent"};
inline constexpr Fault index_first = {"imm-index-first",
                                      "the index leads to a version when its space is granted"};
inline constexpr Fault write_without_imm = {
    "imm-write-without-imm", "a put ends with a plain WRITE, and the server never hears of it"};
inline constexpr Fault del_not_persisted = {"imm-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault recovery_takes_unflagged = {
    "imm-recovery-takes-unflagged", "recovery takes a version that has no durable flag"};
inline constexpr Fault recovery_takes_first = {
    "imm-recovery-takes-first", "recovery takes the version that it finds first, not the newest"};

inline constexpr CommitFaults of_commit = {flag_before_value, flag_not_persisted,
                                           acknowledged_early};
inline constexpr InventoryFaults of_inventory = {del_not_persisted, recovery_takes_first,
                                                 &recovery_takes_unflagged};

inline constexpr std::array all = {
    &value_not_persisted, &flag_before_value, &flag_not_persisted, &acknowledged_early,
    &index_first,         &write_without_imm, &del_not_persisted,  &recovery_takes_unflagged,
    &recovery_takes_first};

}  // namespace remora::kv::imm::faults
