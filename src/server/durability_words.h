// What a store's acknowledgements are worth, in words for people. The words follow from what the
// engine declares (kv/promise.h, Engine::caveat) and from what the medium survives, and from
// nothing else: whoever speaks of durability says it by these, and no more than both of them hold.
//
// Any thread; no state.
#pragma once

#include <cstdint>
#include <string>

#include "front/resp/server.h"
#include "kv/store.h"
#include "link/facts.h"
#include "pmem/region.h"

namespace remora::server {

// What the bytes of a pool survive once they are as persistent as its medium makes them.
enum class Survives : std::uint8_t {
  nothing,      // memory of the server's process
  process_end,  // a file in memory: no power cut
  power_cut,
};

// Of a pool in a file.
Survives survives_of(const Strategy& medium);

// Of a store that is served, by what it tells of itself.
Survives survives_by(const Facts& facts);

// What holds of a put that was just acknowledged, in a few words: "persistent", "visible", or
// "visible" and what the medium does not survive. `asked` says that it was to be persistent.
std::string acknowledged_in_short(const kv::Engine& engine, bool asked, Survives survives);

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
