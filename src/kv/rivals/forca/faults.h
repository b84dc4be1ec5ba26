// Mistakes that Forca can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/rivals/faults.h"

namespace remora::kv::forca::faults {

using namespace rival_faults;

inline constexpr Fault record_not_persisted = {"record-not-persisted",
                                               "the metadata record of a put is never flushed"};
inline constexpr Fault recovery_takes_oldest = {"recovery-takes-oldest",
                                                "recovery takes the oldest version that is whole"};

inline constexpr std::array all = {&record_not_persisted, &forgets_previous,    &get_skips_checksum,
                                   &get_skips_persist,    &persist_not_flushed, &del_not_persisted,
                                   &recovery_takes_oldest};

}  // namespace remora::kv::forca::faults
