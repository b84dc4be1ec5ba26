// VirtualLoop: the Runtime in virtual time. Time stands still while a flow runs and jumps to the
// next event when nothing is left to run, so a run depends on its seed and on nothing else: the
// same seed gives the same run, and the trace hash shows that it did.
//
// An event is a timer that expires, or something that is ready. Events run in the order of their
// times; those of the same time in the order in which they were scheduled, or, with shuffle_ties,
// in an order drawn from the seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core_habit.h"
#include "runtime/limits.h"
#include "runtime/runtime.h"
#include "runtime/timer_queue.h"

namespace remora {

struct VirtualLoopOptions {
  std::uint64_t seed = 1;
  bool shuffle_ties = false;
  std::uint64_t max_events = limits::virtual_events;
};

inline constexpr std::uint64_t first_wall_ms = 2'000'000'000'000;

class VirtualLoop final : public Runtime {
 public:
  explicit VirtualLoop(const VirtualLoopOptions& options = {});

  std::uint64_t seed() const { return options_.seed; }

  // Adds cores; their ids are the returned one and those that follow it.
  CoreId add_cores(std::uint32_t count);
  // Adds cores under one id, for requests that queue for them. Who charges says which by use_core.
  CoreId add_group(const CoreGroup& group);
  // Adds cores under one id, for work that takes whichever is free first: each event's charges are
  // one piece of work.
  CoreId add_pool(std::uint32_t count);
  // Another id for the first core of this one: what is charged to either competes.
  CoreId add_alias(CoreId of);
  // How the cores of this id wait, and with whom they are shared. A shared one has slices.
  void set_habit(CoreId core, const CoreHabit& habit);
  // The time that the core has been busy until now; all of them together, if they are several. That
  // it wakes up, and that others have it while work waits, counts.
  std::uint64_t busy_ns(CoreId core) const;

  // Runs one event, then asks the pollers. Without an event the pollers are asked alone, and count
  // as one if they had work. Gives running; stalled when there was neither; exhausted when
  // max_events have run, and then runs nothing.
  RunState step();
  std::uint64_t events() const { return events_; }

  // Called after each event, outside all flows, with the number of events so far.
  void on_event(std::function<void(std::uint64_t)> hook) { on_event_ = std::move(hook); }

  // The order of everything that happened: events and traced facts.
  std::uint64_t trace_hash() const { return trace_hash_; }
  // Called for each traced fact, so that a run can be told in words.
  void on_trace(std::function<void(std::string_view, std::uint64_t)> hook) {
    on_trace_ = std::move(hook);
  }

  // The power of everything on this loop is cut. Every spawned flow is destroyed where it is
  // suspended; timers, watches and pollers are dropped; cores are idle. No flow runs on, but the
  // destructors of their locals run (see abandon.h). Tasks that are kept elsewhere are for their
  // owner to destroy, within an AbandonScope. Time, chance, event count and trace go on, so that
  // recovery can run on the same loop. Not to be called from inside a flow, an event or a poller.
  void abandon();

  std::uint64_t now_ns() const override { return now_ns_; }
  // Virtual time begins at a fixed moment of the year 2033.
  std::uint64_t wall_ms() const override {
    return first_wall_ms + now_ns_ / 1'000'000 - wall_back_ms_;
  }
  // Somebody sets the clock on the wall, by so much more.
  void set_wall_back(std::uint64_t by_ms) { wall_back_ms_ += by_ms; }
  void set_wall_ahead(std::uint64_t by_ms) { wall_back_ms_ -= by_ms; }
  void arm(Timer& timer, std::uint64_t due_ns) override;
  void run_soon(Timer& timer) override { arm(timer, now_ns_); }
  void placed(ConstBytes range) override {
    if (on_placed_) {
      on_placed_(range);
    }
    watches_.check_overlapping(range);
  }
  // Called for all that is placed, before those who watch it.
  void on_placed(std::function<void(ConstBytes)> hook) { on_placed_ = std::move(hook); }
  std::uint64_t charge(CoreId core, std::uint64_t cost_ns) override;
  const CoreGroup* core_group(CoreId core) const override;
  void use_core(CoreId core, std::uint32_t which) override;
  void trace(std::string_view tag, std::uint64_t value) override;
  RunState turn() override { return step(); }
  // Runs every event that is due within the span, then sets the time to its end. A span of never_ns
  // runs until nothing is scheduled, and leaves the time at the last event.
  RunState run_for(std::uint64_t span_ns) override;

 private:
  struct Core {
    std::uint64_t free_at_ns = 0;
    std::uint64_t charged_ns = 0;
  };
  // What an id stands for: cores that follow each other.
  struct Named {
    std::size_t first = 0;
    CoreGroup cores = {};
    bool queued = false;  // requests wait for them
    bool pooled = false;  // an event's work goes to the one that is free first
    std::uint32_t used = 0;
    std::uint64_t used_at_event = 0;
    CoreHabit habit = {};
  };

  CoreId add_named(std::uint32_t count);
  Named& named(CoreId core);
  std::uint64_t core_busy_ns(const Core& core) const;

  std::string describe() const override;
  bool run_event();
  void fold(std::uint64_t value) { trace_hash_ = mix(trace_hash_ ^ value); }

  const VirtualLoopOptions options_;
  Random ties_;  // of its own, so that shuffling does not shift the numbers that flows draw
  TimerQueue queue_;
  std::vector<Core> cores_;
  std::vector<Named> named_;  // by CoreId
  std::uint64_t now_ns_ = 0;
  std::uint64_t wall_back_ms_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t trace_hash_ = 0;
  std::function<void(std::uint64_t)> on_event_;
  std::function<void(std::string_view, std::uint64_t)> on_trace_;
  std::function<void(ConstBytes)> on_placed_;
};

}  // namespace remora
