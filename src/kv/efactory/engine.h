// eFactory (Du et al., ICPP 2021): a multi-version log-structured store with asynchronous
// durability. The client writes values by one-sided WRITE (small ones may come within a request,
// where that is faster: client.h); the server verifies and persists them in
// the background; a reader takes what the index calls durable by one-sided READs, and asks the
// server otherwise.
//
// PROMISE: an acknowledged put is seen by every later get, and becomes persistent by itself; what a
// get returned survives every power cut. A cut takes the latest puts of a key, never one from the
// middle; between keys there is no order. A put that asks for it is acknowledged when it is
// persistent; a del always is.
#pragma once

#include <memory>

#include "kv/efactory/engine_options.h"
#include "kv/store.h"

namespace remora::kv::efactory {

const Engine& engine();
const Engine& engine_without_hybrid_reads();
// One that does some things as the paper has them; it is found by no name.
std::unique_ptr<const Engine> engine_with(const EngineOptions& options);

}  // namespace remora::kv::efactory
