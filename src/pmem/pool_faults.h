// The mistakes that can be planted in the pool. Each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::pool_faults {

inline constexpr Fault record_not_flushed{"pool-record-not-flushed",
                                          "a log record is drained without being flushed"};
inline constexpr Fault record_not_drained{"pool-record-not-drained",
                                          "a transaction is acknowledged before its drain"};
inline constexpr Fault object_not_flushed{"pool-object-not-flushed",
                                          "the bytes of a new object are never flushed"};
inline constexpr Fault object_after_record{
    "pool-object-after-record", "a new object is persisted after the record that publishes it"};
inline constexpr Fault apply_before_record{
    "pool-apply-before-record", "words are put in place before their record is persistent"};
inline constexpr Fault retire_before_homes{
    "pool-retire-before-homes", "records are retired before the words they wrote are persistent"};
inline constexpr Fault slot_reused_early{"pool-slot-reused-early",
                                         "a log slot is reused although its record is not retired"};
inline constexpr Fault free_too_early{"pool-free-too-early",
                                      "freed space is handed out before its record is retired"};
inline constexpr Fault record_checksum_ignored{
    "pool-record-checksum-ignored", "recovery replays records without checking their checksum"};
inline constexpr Fault seal_ignored{"pool-seal-ignored",
                                    "recovery replays records whose objects are incomplete"};
inline constexpr Fault epoch_kept{"pool-epoch-kept", "opening does not start a new log epoch"};
inline constexpr Fault epoch_before_homes{
    "pool-epoch-before-homes",
    "opening starts a new epoch before the replayed words are persistent"};
inline constexpr Fault replay_skipped{"pool-replay-skipped", "opening does not replay the log"};
inline constexpr Fault replay_past_gap{"pool-replay-past-gap",
                                       "recovery goes on behind a record that is missing"};
inline constexpr Fault allocation_not_logged{
    "pool-allocation-not-logged", "the bit of a new object is written in place, past the log"};
inline constexpr Fault summary_not_logged{
    "pool-summary-not-logged", "the summary bit of a new chunk is written in place, past the log"};
inline constexpr Fault root_name_torn{"pool-root-name-torn",
                                      "the name of a new root is written in place, past the log"};
inline constexpr Fault free_forgotten{"pool-free-forgotten",
                                      "a freed object is unlinked but its bit stays"};
inline constexpr Fault total_not_logged{
    "pool-total-not-logged", "a record changes entries or roots, and not the total over them"};
inline constexpr Fault total_past_log{"pool-total-past-log",
                                      "the total is written in place, past the log"};
inline constexpr Fault known_too_far{
    "pool-known-too-far", "a record calls the one before it persistent, which may be on its way"};
inline constexpr Fault version_first{
    "pool-version-first", "an upgrade writes the version before what it stands for is persistent"};
inline constexpr Fault grown_first{"pool-grown-first",
                                   "a pool is called larger before its new piece is persistent"};
inline constexpr Fault growth_not_cleared{"pool-growth-not-cleared",
                                          "what lies behind the end is taken for an empty table"};
inline constexpr Fault growth_not_awaited{"pool-growth-not-awaited",
                                          "a growth is acknowledged before it is persistent"};

inline constexpr std::array all = {
    &record_not_flushed,  &record_not_drained,  &object_not_flushed,
    &object_after_record, &apply_before_record, &retire_before_homes,
    &slot_reused_early,   &free_too_early,      &record_checksum_ignored,
    &seal_ignored,        &epoch_kept,          &epoch_before_homes,
    &replay_skipped,      &replay_past_gap,     &allocation_not_logged,
    &summary_not_logged,  &root_name_torn,      &free_forgotten,
    &total_not_logged,    &total_past_log,      &known_too_far,
    &version_first,       &grown_first,         &growth_not_cleared,
    &growth_not_awaited,
};

}  // namespace remora::pool_faults
