// Mistakes that rpc can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/rivals/faults.h"

namespace remora::kv::rpc_store::faults {

using namespace rival_faults;

inline constexpr std::array all = {
    &value_not_persisted, &flag_before_value,        &flag_not_persisted,  &acknowledged_early,
    &del_not_persisted,   &recovery_takes_unflagged, &recovery_takes_first};

}  // namespace remora::kv::rpc_store::faults
