// SAW, send after write (Douglas, SDC 2015; as section 5.3.1 of the eFactory paper has it).
//
//   put   SEND: ask for space      -> the server allocates, and answers where
//         WRITE the value there
//         SEND: persist            -> the server flushes the value, then sets the flag and leads
//                                     the index there
//   get   READ the index; READ the object. The index leads only to what is persistent, so nothing
//         is verified. On a hash conflict: SEND to ask where, READ.
//
// PROMISE: an acknowledged put is persistent, and every later get sees it, before and after any
// power cut. A del is the same.
//
// CHOSEN where the paper is silent: the SEND is posted when the WRITE is acknowledged (the paper
// counts "another extra network round trip"). "Metadata" is the durable flag in the object, which
// is persistent after the value and is all that recovery looks at, and the index in DRAM, which is
// made anew. Two puts of one key are ordered by their allocation. There is no log cleaning: a full
// log is no_space.
#pragma once

#include "kv/store.h"

namespace remora::kv::saw {

const Engine& engine();

}  // namespace remora::kv::saw
