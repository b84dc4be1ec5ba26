// Harder lives: what one seed in seven has on top of its plan, some of these together:
//
//   large values       of 16 to 60 KB, larger than a segment, in a pool of 1 MB
//   keys with a time   beside natives, growth and cleaning (timed_load.h)
//   a narrow hash      of 4 to 6 bits, so that keys share tags
//   a worker           on a core of its own (world/virtual_worker.h)
//   kills              of the server's process, and cuts soon after
//   cuts in cleanings  ten of them, one after another
//   scans              by every client
//   clearings          of all keys at once, by the server's own process
//   tides              most keys come, and go again, so that the index grows and shrinks
//
// The other six have the plans that they would have without these.
#pragma once

#include "lab/subjects/stores/plan.h"

namespace remora::lab {

inline constexpr std::uint64_t one_in_is_hard = 7;

// For an engine that is the product's: those of papers are held to what these say.
bool has_hard_life(const kv::Engine& engine, std::uint64_t seed);
void harden(StorePlan& plan, std::uint64_t seed);

}  // namespace remora::lab
