// RPC: the server handles everything (sections 1, 2.2 and 3 of the eFactory paper).
//
//   put   SEND: key and value      -> the server allocates, copies the value from the message into
//                                     persistent memory, persists it, then sets the flag and leads
//                                     the index there, and answers
//   get   SEND: key                -> the server looks it up, and answers with the value
//
// PROMISE: an acknowledged put is persistent, and every later get sees it, before and after any
// power cut. A del is the same.
//
// CHOSEN where the paper is silent: a message carries values of up to 4 KB, the largest that the
// paper measures. A larger value is written to the session's staging area in the server's DRAM,
// which grows to the size of the largest, and the request follows; on a get, the server answers
// where the object is, and the client READs it. Metadata and a full log are as in SAW. Requests are
// handled one after the other, so versions are in the order of their requests.
#pragma once

#include "kv/store.h"

namespace remora::kv::rpc_store {

const Engine& engine();

}  // namespace remora::kv::rpc_store
