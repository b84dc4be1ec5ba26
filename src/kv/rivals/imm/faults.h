// Mistakes that imm can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/rivals/faults.h"

namespace remora::kv::imm::faults {

using namespace rival_faults;

inline constexpr Fault write_without_imm = {
    "write-without-imm", "a put ends with a plain WRITE, and the server never hears of it"};

inline constexpr std::array all = {
    &value_not_persisted, &flag_before_value, &flag_not_persisted, &acknowledged_early,
    &index_first,         &write_without_imm, &del_not_persisted,  &recovery_takes_unflagged,
    &recovery_takes_first};

}  // namespace remora::kv::imm::faults
