// Mistakes that eFactory can be told to make, one at a time; each must be noticed by the crash
// world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::kv::efactory::faults {

// Put.
inline constexpr Fault header_not_persisted = {
    "efactory-header-not-persisted", "the reply to a put leaves before its metadata is persistent"};
inline constexpr Fault write_is_enough = {
    "efactory-write-is-enough",
    "a put ends when the WRITE is acknowledged, though nobody may see it yet (as published)"};
inline constexpr Fault late_put_succeeds = {
    "efactory-late-put-succeeds", "a put that took longer than the server waits is a success"};
inline constexpr Fault durable_from_start = {
    "efactory-durable-from-start", "a new object has its durability flag before its value came"};
inline constexpr Fault sequence_stands_still = {
    "efactory-sequence-stands-still", "two versions of a key get the same sequence number"};
inline constexpr Fault forgets_previous = {"efactory-forgets-previous",
                                           "a new version is not linked to the one before"};
// Verification.
inline constexpr Fault flag_without_persist = {
    "efactory-flag-without-persist", "the durability flag is set and the value never flushed"};
inline constexpr Fault flag_without_checksum = {
    "efactory-flag-without-checksum", "a version is called durable without looking at its value"};
inline constexpr Fault flag_before_drain = {"efactory-flag-before-drain",
                                            "the flag may become persistent before the value"};
inline constexpr Fault times_out_early = {"efactory-times-out-early",
                                          "a version is given up after a hundredth of the time"};
// Reading.
inline constexpr Fault reads_undurable = {
    "efactory-reads-undurable", "a get by READ takes a version that has no durability flag"};
inline constexpr Fault flag_travels = {
    "efactory-flag-travels",
    "a get by READ trusts a flag that came with the bytes, not before them (as published)"};
inline constexpr Fault get_skips_checksum = {
    "efactory-get-skips-checksum", "the server hands out the newest version, complete or not"};
inline constexpr Fault get_skips_persist = {
    "efactory-get-skips-persist", "the server hands out a version that it did not persist"};
inline constexpr Fault get_skips_key = {"efactory-get-skips-key",
                                        "a reader does not compare the key of what it READ"};
// Deletion.
inline constexpr Fault del_not_persisted = {"efactory-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault del_in_memory = {"efactory-del-in-memory",
                                        "a del clears the index and leaves no tombstone"};
// Cleaning.
inline constexpr Fault clean_without_notice = {
    "efactory-clean-without-notice", "cleaning does not wait until clients have stopped READing"};
inline constexpr Fault free_without_notice = {
    "efactory-free-without-notice", "old space is used again while clients may still reach it"};
inline constexpr Fault clean_drops_newest = {
    "efactory-clean-drops-newest",
    "cleaning skips a version because a newer one, incomplete, exists"};
inline constexpr Fault clean_moves_incomplete = {
    "efactory-clean-moves-incomplete", "cleaning moves a version whose value is not complete"};
inline constexpr Fault clean_copies_unpersisted = {
    "efactory-clean-copies-unpersisted", "the old pool ends before the copies are persistent"};
inline constexpr Fault clean_forgets_link = {
    "efactory-clean-forgets-link", "a newer version is not told where the one before it went"};
inline constexpr Fault clean_flag_first = {
    "efactory-clean-flag-first", "a copy has its durability flag before its value is persistent"};
inline constexpr Fault put_leaves_stale_place = {
    "efactory-put-leaves-stale-place",
    "a put during cleaning leaves the place of the moved version (as published)"};
// Recovery.
inline constexpr Fault recovery_takes_incomplete = {
    "efactory-recovery-takes-incomplete", "recovery takes the newest version, complete or not"};
inline constexpr Fault recovery_takes_any = {"efactory-recovery-takes-any",
                                             "recovery takes the version that it finds last"};
inline constexpr Fault recovery_revives = {"efactory-recovery-revives",
                                           "recovery does not heed tombstones"};
inline constexpr Fault recovery_restarts_sequence = {"efactory-recovery-restarts-sequence",
                                                     "sequence numbers begin anew after recovery"};

inline constexpr std::array all = {&header_not_persisted,
                                   &write_is_enough,
                                   &late_put_succeeds,
                                   &durable_from_start,
                                   &sequence_stands_still,
                                   &forgets_previous,
                                   &flag_without_persist,
                                   &flag_without_checksum,
                                   &flag_before_drain,
                                   &times_out_early,
                                   &reads_undurable,
                                   &flag_travels,
                                   &get_skips_checksum,
                                   &get_skips_persist,
                                   &get_skips_key,
                                   &del_not_persisted,
                                   &del_in_memory,
                                   &clean_without_notice,
                                   &free_without_notice,
                                   &clean_drops_newest,
                                   &clean_moves_incomplete,
                                   &clean_copies_unpersisted,
                                   &clean_forgets_link,
                                   &clean_flag_first,
                                   &put_leaves_stale_place,
                                   &recovery_takes_incomplete,
                                   &recovery_takes_any,
                                   &recovery_revives,
                                   &recovery_restarts_sequence};

}  // namespace remora::kv::efactory::faults
