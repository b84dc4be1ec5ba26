// CA, the client-active scheme without persistence: the baseline of figure 1 of the eFactory paper.
//
//   put   SEND: ask for space      -> the server allocates, writes the metadata, leads the index
//                                     there, and answers where
//         WRITE the value there
//   get   READ the index; READ the object. Nothing is verified.
//
// PROMISE, as such stores claim it: an acknowledged put is seen by every later get; a power cut may
// lose it. Nothing in the design holds that: the index leads to a version before its value comes,
// so a reader, and recovery, may find a value that is torn or was never written; and an
// acknowledged WRITE may not be visible yet. That is the point of it.
//
// CHOSEN where the paper is silent: the durable flag, which is what recovery trusts, is set when
// the space is granted. Nothing is drained on the way of a put. A put that is to be persistent asks
// the server to persist its object after the WRITE; a del is a tombstone, acknowledged when it is
// persistent. There is no log cleaning: a full log is no_space.
#pragma once

#include "kv/store.h"

namespace remora::kv::ca {

const Engine& engine();

}  // namespace remora::kv::ca
