// Forca (Huang et al., ICCD 2018; as its own source does it), and Forca as section 5.3.4 of the
// eFactory paper has it.
//
//   put   SEND: ask for space, with the value's checksum -> the server allocates the object and its
//                                     metadata record, leads the index to the record, and answers
//         WRITE the value there
//   get   SEND: key                -> the server finds the record by the index and the object by
//                                     the record, checks the checksum, persists the object, and
//                                     answers where it is
//         READ the object
//
// `forca` remembers which versions it has found whole and made persistent, and answers for those at
// once. That is what its source does. `forca-verify-always` checks and persists at every get: so
// two papers describe the design, that of eFactory (5.3.4, "the server identifies data integrity by
// CRC and conducts data persisting before returning the offset") and that of RDMP-KV. Claims that
// name Forca are judged on the latter.
//
// Between a hash entry and the data there is a layer of object metadata (record_format.h), in
// persistent memory of its own: one more allocation and one more line to persist for each put, one
// more step for each get.
//
// PROMISE, as the design claims it: an acknowledged put is seen by every later get; a power cut may
// lose it unless it was read, and never leaves a torn value. What a get returned survives every
// cut. What the claim does not survive: an acknowledged WRITE that is not visible yet (a get finds
// the version before).
//
// CHOSEN where the paper is silent: what `forca` remembers it remembers of the newest version of
// each key, in the index, for as long as the server lives; on media where a ticket takes its time a
// version is verified until the first one is persistent. Records are linked to those of the
// versions before, so that a get, and recovery, fall back until a version is whole. The index is in
// DRAM and is made anew from the records, the newest version that is whole for each key. A put that
// is to be persistent asks the server to check and persist its object after the WRITE. A del is a
// record of its own, acknowledged when it is persistent. There is no log cleaning: a full log is
// no_space.
#pragma once

#include "kv/store.h"

namespace remora::kv::forca {

const Engine& engine();
const Engine& engine_that_verifies_always();

}  // namespace remora::kv::forca
