// eFactory as its paper has it (Du et al., ICPP 2021, section 4), nothing mended.
//
//   put   SEND: ask for space, with the value's checksum -> the server allocates, fills the
//                                     object's metadata, leads the hash entry there, persists both,
//                                     and answers where
//         WRITE the value there. The put ends when that is acknowledged.
//   get   READ the hash entry; READ the object. If its durability flag is set, that is all. Else
//         SEND: key                -> the server looks along the list of versions for one that has
//                                     the flag, or whose checksum is right: that it persists and
//                                     flags
//         READ that.
//   then  one background thread takes versions in the order of their requests. One whose checksum
//         is right it persists and flags; one that is not right in time it marks invalid.
//
//   log cleaning, in two stages, while clients ask the server for all that they get. They are told
//   when it begins and when it has ended, and nobody waits for them.
//     compress  backwards over what the data pool held at the start: the newest version of each key
//               goes to the new pool. If the hash entry leads to it, the entry's second offset
//               leads to the copy; if not, the version after it (NextPTR) is linked to the copy,
//               with the transfer flag. Puts go to the old pool and its offset "as usual".
//     merge     backwards over what was put meanwhile. Puts go to the new pool. A version that has
//     a
//               newer one that is or can be made durable is skipped.
//     end       entries lose the old offset, their mark bits flip, copies lose the transfer flag.
//
// efactory-published-no-hr is the same without hybrid reads: every get asks (section 6.1).
//
// PROMISE, as the paper states it ("asynchronous durability", "strong consistency", no
// "non-monotonic reads across crashes"): an acknowledged put is seen by every later get and becomes
// persistent by itself; what a get returned survives every power cut. The design does not hold
// that; docs/engines/efactory-published.md says where it breaks, with seeds.
//
// CHOSEN where the paper is silent:
//   - The hash table is hopscotch, as in Erda on the same code base (kv/common/hopscotch_table.h).
//     Keys have up to 1 KB, so an entry holds the key's hash, and the object's size beside its
//     offset. A reader that finds no entry asks the server.
//   - Header and hash entry are persisted together, by one drain: the paper gives no order.
//   - The flag is stored after the object is persistent, and not flushed itself.
//   - Recovery looks at both offsets of each entry, computes checksums along the two lists, and
//     takes the newest version that is whole; the rest is forgotten.
//   - The background thread waits at a version that has not come, until it comes or is given up. So
//     a client that stops in the middle of a put holds up those behind it. How many versions wait
//     is bounded by the log alone.
//   - A del empties the hash entry, and is acknowledged when that is persistent.
//   - A put that is to be persistent asks the server to check and persist its value after the
//   WRITE.
//   - The cleaner waits for a version to be decided before it moves or skips it. If there is no
//     room for a copy, both pools go on as one. A data pool has half of the log's space; a put that
//     finds none is told to try again while a cleaning can help.
//   - The old pool's space is used again by the next cleaning, and what clients were granted in it
//     ends then: who writes there later is disconnected (where the device asks guards), where the
//     paper would have two objects in one place. Who READs there finds what is there.
//   - A get whose object has moved before it is READ asks again.
#pragma once

#include "kv/store.h"

namespace remora::kv::efactory_published {

const Engine& engine();
const Engine& engine_without_hybrid_reads();

}  // namespace remora::kv::efactory_published
