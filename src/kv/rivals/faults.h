// The mistakes that several rivals can be told to make. Each is declared once, under one name: the
// engine says whose it is. A rival lists in its own faults.h those that it can make, beside its
// own.
#pragma once

#include "base/faults.h"
#include "kv/common/inventory.h"
#include "kv/common/inventory_server.h"

namespace remora::kv::rival_faults {

// Put.
inline constexpr Fault value_not_persisted = {"value-not-persisted", "the value is never flushed"};
inline constexpr Fault flag_before_value = {
    "flag-before-value", "the durable flag may become persistent before the value"};
inline constexpr Fault flag_not_persisted = {
    "flag-not-persisted", "a put is acknowledged before its durable flag is persistent"};
inline constexpr Fault acknowledged_early = {
    "acknowledged-early", "a put is acknowledged, and its value may never be persistent"};
inline constexpr Fault index_first = {"index-first",
                                      "the index leads to a version when its space is granted"};
inline constexpr Fault persist_not_flushed = {
    "persist-not-flushed", "a put that is to be persistent is answered, and never flushed"};
inline constexpr Fault forgets_previous = {"forgets-previous",
                                           "a version is not linked to the one before"};
// Get and del.
inline constexpr Fault get_skips_persist = {
    "get-skips-persist", "the server hands out a version that it did not persist"};
inline constexpr Fault get_skips_checksum = {"get-skips-checksum",
                                             "a get takes the newest version, whole or not"};
inline constexpr Fault del_not_persisted = {"del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
// Recovery.
inline constexpr Fault recovery_takes_unflagged = {
    "recovery-takes-unflagged", "recovery takes a version that has no durable flag"};
inline constexpr Fault recovery_takes_first = {
    "recovery-takes-first", "recovery takes the version that it finds first, not the newest"};

inline constexpr CommitFaults of_commit = {flag_before_value, flag_not_persisted,
                                           acknowledged_early};
inline constexpr InventoryFaults of_inventory = {del_not_persisted, recovery_takes_first,
                                                 &recovery_takes_unflagged};

}  // namespace remora::kv::rival_faults
