// Mistakes that ca can be told to make, one at a time. What its design breaks by itself hides
// none of them where the platform keeps everything (whole-system persistence) or where a put asks
// to be persistent.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/rivals/faults.h"

namespace remora::kv::ca::faults {

using namespace rival_faults;

inline constexpr Fault update_forgotten = {"update-forgotten",
                                           "the index is not led to a new version of a key"};
inline constexpr Fault persist_not_drained = {
    "persist-not-drained", "a put that is to be persistent is answered before it is"};

inline constexpr InventoryFaults of_inventory = {del_not_persisted, recovery_takes_first, nullptr};

inline constexpr std::array all = {&update_forgotten, &persist_not_flushed, &persist_not_drained,
                                   &del_not_persisted, &recovery_takes_first};

}  // namespace remora::kv::ca::faults
