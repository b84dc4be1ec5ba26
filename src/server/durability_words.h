// What a store's acknowledgements are worth, in words for people. The words follow from what the
// engine declares (kv/promise.h, Engine::caveat) and from what the medium survives, and from
// nothing else: whoever speaks of durability says it by these, and no more than both of them hold.
//
// Any thread; no state.
#pragma once

#include <cstdint>
#include <string>

#include "kv/store.h"
#include "pmem/region.h"
#include "resp/server.h"

namespace remora::server {

// What the bytes of a pool survive once they are as persistent as its medium makes them.
enum class Survives : std::uint8_t {
  nothing,      // memory of the server's process
  process_end,  // a file in memory: no power cut
  power_cut,
};

// Of a pool in a file.
Survives survives_of(const Strategy& medium);

// What an acknowledged put means: one sentence without an end.
std::string put_in_short(const kv::Engine& engine, Survives survives);

// The same at length.
struct PutWords {
  std::string put = {};
  std::string persistent_put = {};  // with --persistent; empty where that makes no difference
  std::string caveat = {};          // what does not hold of these; mostly empty
};
PutWords put_at_length(const kv::Engine& engine, Survives survives);

// What the writes of Redis clients are worth, and what their reads may show.
std::string redis_in_short(resp::Durability durability, Survives survives);

// What there is when a store has ended in order, and what becomes of it.
std::string end_in_short(const kv::Engine& engine, Survives survives);

}  // namespace remora::server
