// Mistakes that Erda can be told to make, one at a time. What its design breaks by itself hides
// none of them where a put asks to be persistent and no other of its key is under way.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/common/hopscotch_format.h"
#include "kv/rivals/faults.h"

namespace remora::kv::erda::faults {

using namespace rival_faults;

inline constexpr Fault region_not_persisted = {"region-not-persisted",
                                               "the 8-byte region is never flushed"};
// The table of Erda.
inline constexpr HopscotchKind table_kind = {
    "erda-table", {'R', 'E', 'M', 'O', 'R', 'A', 'E', 'H'}, 2, region_not_persisted};
inline constexpr Fault region_in_place = {
    "region-in-place", "a new version replaces the newest one in the region, not the oldest"};
inline constexpr Fault recovery_keeps_torn = {
    "recovery-keeps-torn",
    "recovery leaves the offset of a torn version, so that the next put drops the whole one"};

inline constexpr std::array all = {&region_not_persisted, &region_in_place, &get_skips_checksum,
                                   &persist_not_flushed, &recovery_keeps_torn};

}  // namespace remora::kv::erda::faults
