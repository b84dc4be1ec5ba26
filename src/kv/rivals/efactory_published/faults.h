// Mistakes that eFactory as published can be told to make, one at a time. What its design breaks by
// itself hides none of them where one client works and nothing is on its way at a cut.
#pragma once

#include <array>

#include "base/faults.h"
#include "kv/common/hopscotch_format.h"
#include "kv/rivals/faults.h"

namespace remora::kv::efactory_published::faults {

using namespace rival_faults;

inline constexpr Fault entry_not_persisted = {"entry-not-persisted",
                                              "the hash entry is never flushed"};
inline constexpr Fault flag_without_checksum = {
    "flag-without-checksum", "the background thread flags a version without a look at its value"};
inline constexpr Fault flag_without_persist = {
    "flag-without-persist", "the background thread flags a version that it did not persist"};
inline constexpr Fault recovery_takes_newest = {
    "recovery-takes-newest", "recovery takes the newest version of a list, whole or not"};
inline constexpr Fault clean_forgets_link = {
    "clean-forgets-link", "the version after one that was moved is not linked to the copy"};
inline constexpr Fault clean_copies_unpersisted = {
    "clean-copies-unpersisted", "cleaning leads to a copy that may not be persistent"};
inline constexpr Fault clean_keeps_reads = {"clean-keeps-reads",
                                            "clients are not told that the log is cleaned"};

inline constexpr std::array all = {
    &entry_not_persisted,   &forgets_previous,   &get_skips_checksum,       &get_skips_persist,
    &persist_not_flushed,   &del_not_persisted,  &flag_without_checksum,    &flag_without_persist,
    &recovery_takes_newest, &clean_forgets_link, &clean_copies_unpersisted, &clean_keeps_reads};

}  // namespace remora::kv::efactory_published::faults
