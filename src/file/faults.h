// The mistakes that can be planted in files. Each must be noticed by the crash world.
#pragma once

#include <array>

#include "base/faults.h"

namespace remora::file::faults {

// Rule 1: nothing is sealed that somebody can change; bytes come before what shows them.
inline constexpr Fault data_sealed{"file-data-sealed",
                                   "a run is published with a seal over bytes that change"};
inline constexpr Fault size_before_data{
    "file-size-before-data", "size and extents are recorded before the bytes are persistent"};
inline constexpr Fault sync_without_record{
    "file-sync-without-record", "fsync is acknowledged before size and extents are persistent"};
inline constexpr Fault ticket_early{"file-ticket-early",
                                    "a change of names is acknowledged before its record"};
// Rule 2: sizes grow in the order of offsets.
inline constexpr Fault size_first{"file-size-first",
                                  "the whole new size is recorded with the first of the extents"};
// Rule 3: holes and what was added read as zeros.
inline constexpr Fault block_not_zeroed{"file-block-not-zeroed",
                                        "a write into a hole leaves the rest of its block"};
inline constexpr Fault added_not_zeroed{"file-added-not-zeroed",
                                        "what lies behind the old size shows when a file grows"};
// Rule 4: space is used again when nothing can lead to it any more.
inline constexpr Fault runs_freed_first{"file-runs-freed-first",
                                        "runs are freed in a record before their extents go"};
inline constexpr Fault node_kept{"file-node-kept", "a node that was replaced is never freed"};
// Rule 5: files without a name live until their last close, and no longer.
inline constexpr Fault orphan_forgotten{"file-orphan-forgotten",
                                        "an open file without a name is not put on the list"};
inline constexpr Fault orphan_kept{"file-orphan-kept", "recovery leaves orphans as they are"};
inline constexpr Fault orphan_unlisted_first{
    "file-orphan-unlisted-first", "an orphan leaves the list in a record before it is freed"};
// Rule 6: a move publishes the copy and frees the old in one record, when the copy is persistent.
inline constexpr Fault move_before_copy{
    "file-move-before-copy", "a moved extent is published before its copy is persistent"};
// Rule 7: renames are atomic, and count right.
inline constexpr Fault rename_in_two{"file-rename-in-two",
                                     "a rename removes the old name in a second record"};
inline constexpr Fault parent_kept{"file-parent-kept",
                                   "a directory that moves keeps its old parent"};
inline constexpr Fault links_kept{"file-links-kept",
                                  "a directory's links do not follow the directories in it"};
// Rule 8: long changes are resumed.
inline constexpr Fault cut_without_intent{
    "file-cut-without-intent", "a long truncate takes no note of itself before its steps"};
inline constexpr Fault size_last{"file-size-last",
                                 "a long truncate changes the size with its last step"};
// Rule 10: damage is noticed.
inline constexpr Fault check_kept{"file-check-kept", "an inode changes, and its check does not"};
inline constexpr Fault attributes_in_two{
    "file-attributes-in-two", "old attributes are freed in a record before the new ones are there"};

inline constexpr std::array all = {
    &data_sealed,        &size_before_data, &sync_without_record, &ticket_early,
    &size_first,         &block_not_zeroed, &added_not_zeroed,    &runs_freed_first,
    &node_kept,          &orphan_forgotten, &orphan_kept,         &orphan_unlisted_first,
    &move_before_copy,   &rename_in_two,    &parent_kept,         &links_kept,
    &cut_without_intent, &size_last,        &check_kept,          &attributes_in_two,
};

}  // namespace remora::file::faults
