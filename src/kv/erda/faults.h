// Mistakes that Erda can be told to make, one at a time. What its design breaks by itself hides
// none of them where a put asks to be persistent and no other of its key is under way.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::kv::erda::faults {

inline constexpr Fault region_not_persisted = {"erda-region-not-persisted",
                                               "the 8-byte region is never flushed"};
inline constexpr Fault region_in_place = {
    "erda-region-in-place", "a new version replaces the newest one in the region, not the oldest"};
inline constexpr Fault get_skips_checksum = {"erda-get-skips-checksum",
                                             "a get takes the newest version, whole or not"};
inline constexpr Fault persist_not_flushed = {
    "erda-persist-not-flushed", "a put that is to be persistent is answered, and never flushed"};
inline constexpr Fault recovery_keeps_torn = {
    "erda-recovery-keeps-torn",
    "recovery leaves the offset of a torn version, so that the next put drops the whole one"};

inline constexpr std::array all = {&region_not_persisted, &region_in_place, &get_skips_checksum,
                                   &persist_not_flushed, &recovery_keeps_torn};

}  // namespace remora::kv::erda::faults
