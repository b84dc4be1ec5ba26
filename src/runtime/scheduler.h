// Scheduler: the smallest part of a loop, which every primitive that suspends a flow is made with.
#pragma once

#include <cstdint>

#include "runtime/timer.h"

namespace remora {

inline constexpr std::uint64_t never_ns = UINT64_MAX;

// All on the loop's thread; nothing blocks, nothing runs a flow before it returns.
class Scheduler {
 public:
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  virtual ~Scheduler() = default;

  // Nanoseconds since a moment that is fixed for the life of the loop; never goes back.
  virtual std::uint64_t now_ns() const = 0;

  // Milliseconds since 1970, as people and other machines count them; may be set back.
  virtual std::uint64_t wall_ms() const = 0;

  // Runs the timer once the time is due_ns or later; a time in the past means soon, and
  // never_ns means never. An armed timer is armed anew.
  virtual void arm(Timer& timer, std::uint64_t due_ns) = 0;

  // Runs the timer in its turn, with no time passing: after what the loop runs now.
  virtual void run_soon(Timer& timer) = 0;

  // Runs the timer at the end of this turn, behind all that is ready in it; of one that is not in a
  // turn, at the end of the next. A loop that has no turns runs it soon.
  virtual void run_last(Timer& timer) { run_soon(timer); }

  // The time `span_ns` from now; never_ns if that lies beyond the clock.
  std::uint64_t after(std::uint64_t span_ns) const {
    const std::uint64_t now = now_ns();
    return span_ns < never_ns - now ? now + span_ns : never_ns;
  }
};

}  // namespace remora
