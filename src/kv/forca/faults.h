// Mistakes that Forca can be told to make, one at a time; each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::kv::forca::faults {

inline constexpr Fault record_not_persisted = {"forca-record-not-persisted",
                                               "the metadata record of a put is never flushed"};
inline constexpr Fault forgets_previous = {"forca-forgets-previous",
                                           "a record is not linked to that of the version before"};
inline constexpr Fault get_skips_checksum = {
    "forca-get-skips-checksum", "the server hands out the newest version, whole or not"};
inline constexpr Fault get_skips_persist = {
    "forca-get-skips-persist", "the server hands out a version that it did not persist"};
inline constexpr Fault persist_not_flushed = {
    "forca-persist-not-flushed", "a put that is to be persistent is answered, and never flushed"};
inline constexpr Fault del_not_persisted = {"forca-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault recovery_takes_oldest = {"forca-recovery-takes-oldest",
                                                "recovery takes the oldest version that is whole"};

inline constexpr std::array all = {&record_not_persisted, &forgets_previous,    &get_skips_checksum,
                                   &get_skips_persist,    &persist_not_flushed, &del_not_persisted,
                                   &recovery_takes_oldest};

}  // namespace remora::kv::forca::faults
