// Erda (Liu et al., arXiv:1906.08173; as section 5.3.3 of the eFactory paper has it).
//
//   put   SEND: ask for space      -> the server allocates, stores the new offset into the key's
//                                     8-byte region, and answers where
//         WRITE the object there, the header with its checksum and the value. Nothing persists it
//         but natural eviction.
//   get   READ the neighbourhood of the key's bucket; READ the newest version; check its checksum.
//         When it is not whole: READ the previous version, and check that.
//
// The hash table is hopscotch, in persistent memory (kv/common/hopscotch_table.h). A bucket's
// 8-byte region has the offsets of the latest two versions and a tag that says which is newer, and
// changes atomically.
//
// PROMISE, as the design claims it: an acknowledged put is seen by every later get; a power cut may
// lose it, and never leaves a torn value: the version before it is there. What the claim does not
// survive: an acknowledged WRITE that is not visible yet (a get finds the version before); two puts
// of one key under way at a cut (both offsets lead to torn values, and the acknowledged version
// before them is lost), or two puts after it that nobody persisted; a value that was read and then
// lost, for the same reason. So a put that is to be persistent is so only until two others of its
// key follow.
//
// CHOSEN where the paper is silent: keys have up to 1 KB, so a bucket holds the key's hash; the key
// stands in front of the object, where the server puts it with the allocation. The sizes of the two
// versions are beside the region, as a hint how much to READ. A reader that finds no entry asks the
// server: the entry may be moving to another bucket, or the table to a larger one. A get that finds
// neither version whole looks again for a few milliseconds, then fails with timed_out; when there
// is no previous version, there is no such key yet. Recovery looks at the two offsets of each
// bucket alone, checks them, and forgets what is torn. A put that is to be persistent asks the
// server to check and persist its value after the WRITE. A del empties the bucket, and is
// acknowledged when that is persistent. There is no log cleaning: a full log is no_space.
#pragma once

#include "kv/store.h"

namespace remora::kv::erda {

const Engine& engine();

}  // namespace remora::kv::erda
