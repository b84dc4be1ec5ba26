// Promise: what a store says about itself. Every engine declares one; every history of it is held
// to that, and to nothing more (lab/check/promise.h).
#pragma once

#include <cstdint>

namespace remora {

// What an acknowledged put or del means.
enum class Acknowledged : std::uint8_t {
  taken,    // the store has the request: volatile, and not yet visible to all
  visible,  // later gets see it; a cut may lose it
  // Later gets see it; it becomes persistent by itself, some time later. Each key by itself: a cut
  // takes the latest writes of a key, never one from the middle; of two keys it may take the write
  // that came first, and keep the one after it.
  asynchronous,
  persistent,  // later gets see it, before and after any cut
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

}  // namespace remora
