// Promise: what a store says about itself, and check: all invariants in one place. Every engine
// declares one promise; every history of it is held to that, and to nothing more.
#pragma once

#include <cstdint>
#include <string>

#include "sim/check/linearizable.h"
#include "sim/check/verdict.h"

namespace remora {

// What an acknowledged put or del means.
enum class Acknowledged : std::uint8_t {
  taken,         // the store has the request: volatile, and not yet visible to all
  visible,       // later gets see it; a cut may lose it
  asynchronous,  // later gets see it; it becomes persistent by itself, in order, some time later
  persistent,    // later gets see it, before and after any cut
};

// What a get may return.
enum class Returned : std::uint8_t {
  any_version,           // some whole version of the key
  monotonic_per_client,  // no older version than an earlier get of the same client
  monotonic,             // no older version than an earlier get of any client
  latest,                // what the last write before it left: linearizable
};

struct Promise {
  Acknowledged acknowledged = Acknowledged::persistent;
  Returned returned = Returned::latest;
  // A version that a get returned survives every later cut: the gets after it do not step back, as
  // far as `returned` compares them with those before. Not with any_version, which compares none.
  bool returned_survives = true;

  bool operator==(const Promise&) const = default;
};

inline constexpr Promise promise_volatile = {Acknowledged::taken, Returned::any_version, false};
inline constexpr Promise promise_visible = {Acknowledged::visible, Returned::latest, false};
inline constexpr Promise promise_asynchronous = {Acknowledged::asynchronous, Returned::latest,
                                                 true};
inline constexpr Promise promise_persistent = {Acknowledged::persistent, Returned::latest, true};

// For people: one sentence.
std::string to_text(const Promise& promise);

// Runs the checkers that the promise calls for. Where it says persistent, every acknowledgement in
// the history counts as persistent, however it was recorded; where it says less, those that were
// recorded as persistent (an explicit flush) still count as such.
Verdict check(const History& history, const Promise& promise,
              std::uint64_t budget_states = default_budget_states);

}  // namespace remora
