// Mistakes that ca can be told to make, one at a time. What its design breaks by itself hides
// none of them where the platform keeps everything (whole-system persistence) or where a put asks
// to be persistent.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/common/inventory.h"

namespace remora::kv::ca::faults {

inline constexpr Fault update_forgotten = {"ca-update-forgotten",
                                           "the index is not led to a new version of a key"};
inline constexpr Fault persist_not_flushed = {
    "ca-persist-not-flushed", "a put that is to be persistent is answered, and never flushed"};
inline constexpr Fault persist_not_drained = {
    "ca-persist-not-drained", "a put that is to be persistent is answered before it is"};
inline constexpr Fault del_not_persisted = {"ca-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault recovery_takes_first = {
    "ca-recovery-takes-first", "recovery takes the version that it finds first, not the newest"};

inline constexpr InventoryFaults of_inventory = {del_not_persisted, recovery_takes_first, nullptr};

inline constexpr std::array all = {&update_forgotten, &persist_not_flushed, &persist_not_drained,
                                   &del_not_persisted, &recovery_takes_first};

}  // namespace remora::kv::ca::faults
