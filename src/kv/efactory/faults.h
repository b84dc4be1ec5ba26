// Mistakes that eFactory can be told to make, one at a time; each must be noticed by the crash
// world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::kv::efactory::faults {

// Put.
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
inline constexpr Fault persist_not_awaited = {
    "efactory-persist-not-awaited", "a persistent put is acknowledged before it is persistent"};
// Verification.
inline constexpr Fault flag_without_persist = {
    "efactory-flag-without-persist", "the durability flag is set and the value never flushed"};
inline constexpr Fault flag_without_checksum = {
    "efactory-flag-without-checksum", "a version is called durable without looking at its value"};
inline constexpr Fault flag_before_drain = {"efactory-flag-before-drain",
                                            "the flag may become persistent before the value"};
inline constexpr Fault times_out_early = {"efactory-times-out-early",
                                          "a version is given up after a hundredth of the time"};
inline constexpr Fault give_up_in_memory = {
    "efactory-give-up-in-memory",
    "a version that did not come in time is marked, and the mark not persisted"};
inline constexpr Fault verifier_sleeps_on = {
    "efactory-verifier-sleeps-on", "nobody wakes the verifier for the copies that cleaning made"};
inline constexpr Fault large_flushed_in_part = {
    "efactory-large-flushed-in-part",
    "of a version that is larger than a segment no more than a segment's size is flushed"};
inline constexpr Fault worker_leaves_drain = {
    "efactory-worker-leaves-drain",
    "the worker flushes, and leaves the drain to the loop, whose drain knows nothing of it"};
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
inline constexpr Fault get_looks_once = {
    "efactory-get-looks-once",
    "the server looks at the newest version alone, and finds no key where that never came"};
inline constexpr Fault get_passes_tombstone = {"efactory-get-passes-tombstone",
                                               "the server looks for a version behind a tombstone"};
inline constexpr Fault notice_lost = {"efactory-notice-lost",
                                      "a notice that comes while a client connects is lost"};
inline constexpr Fault reads_by_mark = {
    "efactory-reads-by-mark",
    "a get by READ follows the mark of an entry while the log is cleaned"};
inline constexpr Fault get_forgets_time = {"efactory-get-forgets-time",
                                           "a get by READ returns a version whose time has come"};
inline constexpr Fault tag_is_key = {"efactory-tag-is-key",
                                     "two keys that share a tag are taken for one"};
inline constexpr Fault scan_lists_awaited = {"efactory-scan-lists-awaited",
                                             "a scan lists a key whose value never came"};
// Deletion.
inline constexpr Fault del_not_persisted = {"efactory-del-not-persisted",
                                            "a del is acknowledged before it is persistent"};
inline constexpr Fault del_in_memory = {"efactory-del-in-memory",
                                        "a del clears the index and leaves no tombstone"};
inline constexpr Fault del_in_old_pool = {
    "efactory-del-in-old-pool",
    "a tombstone goes to the pool that cleaning ends, and what it hides was moved"};
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
inline constexpr Fault clean_trusts_visible = {
    "efactory-clean-trusts-visible",
    "cleaning drops a persistent version for a newer one that is only visible"};
inline constexpr Fault clean_copies_unflushed = {
    "efactory-clean-copies-unflushed", "cleaning copies values, and flushes none of the copies"};
inline constexpr Fault clean_copies_unpersisted = {
    "efactory-clean-copies-unpersisted", "the old pool ends before the copies are persistent"};
inline constexpr Fault clean_forgets_survivor = {
    "efactory-clean-forgets-survivor",
    "a key goes because its newest version never came, though the one before was moved"};
inline constexpr Fault clean_cuts_chain = {
    "efactory-clean-cuts-chain",
    "a version forgets the old pool, and with it the moved version behind what never came"};
inline constexpr Fault cleans_for_ever = {
    "efactory-cleans-for-ever", "cleaning begins again though nothing came since the last one"};
inline constexpr Fault clean_forgets_link = {
    "efactory-clean-forgets-link", "a newer version is not told where the one before it went"};
inline constexpr Fault clean_flag_first = {
    "efactory-clean-flag-first", "a copy has its durability flag before its value is persistent"};
inline constexpr Fault put_leaves_stale_place = {
    "efactory-put-leaves-stale-place",
    "a put during cleaning leaves the place of the moved version (as published)"};
inline constexpr Fault part_forgets_deletions = {
    "efactory-part-forgets-deletions",
    "cleaning of a part drops a tombstone though what it hides may be in another part"};
inline constexpr Fault part_takes_undecided = {
    "efactory-part-takes-undecided",
    "cleaning of a part takes segments to which values are still on their way"};
// Recovery.
inline constexpr Fault recovery_takes_incomplete = {
    "efactory-recovery-takes-incomplete", "recovery takes the newest version, complete or not"};
inline constexpr Fault recovery_takes_any = {"efactory-recovery-takes-any",
                                             "recovery takes the version that it finds last"};
inline constexpr Fault recovery_revives = {"efactory-recovery-revives",
                                           "recovery does not heed tombstones"};
inline constexpr Fault recovery_restarts_sequence = {
    "efactory-recovery-restarts-sequence",
    "sequence numbers start from the beginning after recovery"};
inline constexpr Fault recovery_keeps_copies = {
    "efactory-recovery-keeps-copies",
    "recovery leaves what cleanings that were cut short have copied, and the room that it takes"};
inline constexpr Fault recovery_trusts_caches = {
    "efactory-recovery-trusts-caches",
    "recovery frees what a version hides that a killed process left in the caches"};
// Keys with a time, which have a crash world of their own.
inline constexpr Fault recovery_passes_expired = {
    "efactory-recovery-passes-expired",
    "recovery looks for a version behind one whose time has come"};
inline constexpr Fault clean_forgets_time = {"efactory-clean-forgets-time",
                                             "a copy that cleaning makes has no time"};
inline constexpr Fault expired_in_memory = {
    "efactory-expired-in-memory",
    "a key whose time has come leaves the index, and nothing says so on the medium"};
inline constexpr Fault recovery_forgets_times = {
    "efactory-recovery-forgets-times",
    "after a recovery nobody knows when the times of keys come that are not asked for"};
inline constexpr Fault time_ends_any_version = {
    "efactory-time-ends-any-version",
    "the time of an older version deletes the key, though it was put again with a later one"};
inline constexpr Fault counts_expired = {"efactory-counts-expired",
                                         "keys whose time has come count until they are deleted"};
inline constexpr Fault clear_in_part = {"efactory-clear-in-part",
                                        "a clearing of all keys is kept for the older half"};
inline constexpr Fault clear_takes_later = {
    "efactory-clear-takes-later", "what is put right after a clearing goes with it at a cut"};
inline constexpr Fault clear_in_memory = {
    "efactory-clear-in-memory", "all keys leave the index, and nothing says so on the medium"};
inline constexpr Fault clear_keeps_awaited = {
    "efactory-clear-keeps-awaited",
    "a clearing spares versions whose values are on their way, and a cut revives their keys"};
inline constexpr Fault clear_under_readers = {
    "efactory-clear-under-readers",
    "keys are cleared while clients may READ what the index led to"};
inline constexpr Fault deletion_overtakes = {
    "efactory-deletion-overtakes",
    "of a key that moves, the deletion may be persistent before what it moves to"};

// Several keys at once.
inline constexpr Fault together_forgets_more = {
    "efactory-together-forgets-more",
    "the versions of a write of several keys do not say that they belong together"};
inline constexpr Fault together_durable_early = {
    "efactory-together-durable-early",
    "the first version of a write of several keys is called durable before all are persistent"};
inline constexpr Fault together_forgets_time = {
    "efactory-together-forgets-time", "keys that are written with others lose their times"};
inline constexpr Fault together_heeds_no_time = {
    "efactory-together-heeds-no-time", "a condition takes a key whose time has come for one"};
inline constexpr Fault together_split = {"efactory-together-split",
                                         "a client sends a write of several keys as two"};
inline constexpr Fault together_judged_early = {
    "efactory-together-judged-early",
    "conditions of a write that comes in parts are judged when the first part comes"};
inline constexpr Fault together_not_awaited = {
    "efactory-together-not-awaited",
    "a write of several keys is acknowledged as persistent before it is"};
inline constexpr Fault clean_before_settled = {
    "efactory-clean-before-settled",
    "what cleaning drops is gone before all that came before it is settled"};
// Growing.
inline constexpr Fault grown_unnoticed = {
    "efactory-grown-unnoticed", "new room is used before every client knows that the pool has it"};
inline constexpr Fault grown_uncounted = {
    "efactory-grown-uncounted", "new room is used before it is persistent that the pool has it"};
inline constexpr Fault recovery_takes_parts = {
    "efactory-recovery-takes-parts",
    "recovery does not ask whether all of a write of several keys is whole"};
inline constexpr Fault recovery_takes_later = {
    "efactory-recovery-takes-later",
    "recovery takes what came after a write of several keys that is not whole"};
inline constexpr Fault recovery_forgets_parts = {
    "efactory-recovery-forgets-parts",
    "recovery passes parts of a write, and nothing says so on the medium"};

// Copying.
inline constexpr Fault clean_under_snapshot = {"efactory-clean-under-snapshot",
                                               "a copy goes on after what it copies was cleaned"};

// --- Damage
inline constexpr Fault mark_passes_undecided = {"efactory-mark-passes-undecided",
                                                "a mark passes a version whose value has not come"};
inline constexpr Fault mark_not_awaited = {
    "efactory-mark-not-awaited", "a mark is written before what it speaks of is persistent"};
inline constexpr Fault recovery_trusts_flag = {
    "efactory-recovery-trusts-flag", "recovery calls durable what has the flag, unverified"};
inline constexpr Fault recovery_falls_back = {
    "efactory-recovery-falls-back", "recovery takes the version before one that is damaged"};
inline constexpr Fault damaged_is_missing = {"efactory-damaged-is-missing",
                                             "a damaged key answers that it is not there"};
inline constexpr Fault clean_mends_damage = {"efactory-clean-mends-damage",
                                             "cleaning calls the copy of what is damaged durable"};

inline constexpr std::array of_damage = {&recovery_trusts_flag, &recovery_falls_back,
                                         &damaged_is_missing, &clean_mends_damage};

// Noticed by tests of their own (together_test.cpp).
inline constexpr std::array of_together = {&together_durable_early, &together_forgets_time,
                                           &together_heeds_no_time, &recovery_takes_later,
                                           &recovery_forgets_parts};

inline constexpr std::array of_copies = {&clean_under_snapshot};

inline constexpr std::array of_times = {
    &recovery_passes_expired, &clean_forgets_time,    &expired_in_memory, &deletion_overtakes,
    &recovery_forgets_times,  &time_ends_any_version, &counts_expired,    &clear_in_part,
    &clear_takes_later,       &clear_in_memory};

inline constexpr std::array all = {&write_is_enough,
                                   &late_put_succeeds,
                                   &durable_from_start,
                                   &sequence_stands_still,
                                   &forgets_previous,
                                   &persist_not_awaited,
                                   &flag_without_persist,
                                   &flag_without_checksum,
                                   &flag_before_drain,
                                   &times_out_early,
                                   &give_up_in_memory,
                                   &verifier_sleeps_on,
                                   &reads_undurable,
                                   &flag_travels,
                                   &get_skips_checksum,
                                   &get_skips_persist,
                                   &get_looks_once,
                                   &get_passes_tombstone,
                                   &notice_lost,
                                   &reads_by_mark,
                                   &del_not_persisted,
                                   &del_in_memory,
                                   &del_in_old_pool,
                                   &clean_without_notice,
                                   &free_without_notice,
                                   &clean_drops_newest,
                                   &clean_moves_incomplete,
                                   &clean_trusts_visible,
                                   &clean_copies_unflushed,
                                   &clean_copies_unpersisted,
                                   &clean_forgets_survivor,
                                   &clean_cuts_chain,
                                   &cleans_for_ever,
                                   &clean_forgets_link,
                                   &clean_flag_first,
                                   &put_leaves_stale_place,
                                   &part_forgets_deletions,
                                   &part_takes_undecided,
                                   &recovery_takes_incomplete,
                                   &recovery_takes_any,
                                   &recovery_revives,
                                   &recovery_restarts_sequence,
                                   &large_flushed_in_part,
                                   &worker_leaves_drain,
                                   &get_forgets_time,
                                   &tag_is_key,
                                   &scan_lists_awaited,
                                   &recovery_keeps_copies,
                                   &recovery_trusts_caches,
                                   &mark_passes_undecided,
                                   &mark_not_awaited,
                                   &clear_keeps_awaited,
                                   &clear_under_readers,
                                   &together_forgets_more,
                                   &together_split,
                                   &together_judged_early,
                                   &together_not_awaited,
                                   &clean_before_settled,
                                   &grown_unnoticed,
                                   &grown_uncounted,
                                   &recovery_takes_parts};

}  // namespace remora::kv::efactory::faults
