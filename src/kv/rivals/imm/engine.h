// IMM, WRITE with IMM (Orion, Yang et al., FAST 2019; as section 5.3.2 of the eFactory paper has
// it).
//
//   put   SEND: ask for space      -> the server allocates, and answers where
//         WRITE with IMM the value -> the server is told at once; it flushes the value, then sets
//                                     the flag and leads the index there, and answers
//   get   READ the index; READ the object. The index leads only to what is persistent, so nothing
//         is verified. On a hash conflict: SEND to ask where, READ.
//
// PROMISE: an acknowledged put is persistent, and every later get sees it, before and after any
// power cut. A del is the same.
//
// CHOSEN where the paper is silent: the immediate has 32 bits, too few for an offset in a large
// pool and for the number of the call that is to be answered. It is that number, whose slot is the
// one of the request for space; the server remembers what it granted for each slot. Metadata, order
// and a full log are as in SAW.
#pragma once

#include "kv/store.h"

namespace remora::kv::imm {

const Engine& engine();

}  // namespace remora::kv::imm
