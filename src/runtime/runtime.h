// Runtime: what code that waits is handed, in every world. Time and timers, chance, watched memory,
// CPU time, detached flows, pollers. PollLoop is the one in real time, VirtualLoop the one in
// virtual time; code that uses a Runtime cannot tell them apart and does not ask.
//
// Everything is called on the loop's thread. Nothing here blocks but run_until, block_on, run_for
// and turn, which run the loop: those are for the owner of the loop, outside all flows and pollers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"
#include "runtime/core_group.h"
#include "runtime/flows.h"
#include "runtime/poller.h"
#include "runtime/scheduler.h"
#include "runtime/sleep.h"
#include "runtime/task.h"
#include "runtime/watch.h"

namespace remora {

using CoreId = std::uint32_t;

enum class RunState : std::uint8_t {
  running,    // there may be more to come
  finished,   // what was waited for is there
  stalled,    // virtual time: nothing is scheduled, so nothing can ever happen
  exhausted,  // virtual time: the event budget is spent
};

std::string_view to_string(RunState state);

class Runtime : public Scheduler {
 public:
  // The pollers leave. It is a bug to destroy a loop that has unfinished spawned tasks.
  ~Runtime() override;

  // Chance, from the seed of the loop. Not for keys: see system_random.h.
  Random& random() { return random_; }

  // Waits for a time, or for a span from now; see Sleep for cancelling.
  Sleep sleep_until(std::uint64_t due_ns) { return Sleep(*this, due_ns); }
  Sleep sleep_for(std::uint64_t span_ns) { return Sleep(*this, after(span_ns)); }

  // Lets everything else that is ready have its turn. What works in the background does so between
  // two bounded pieces of work.
  Yield yield() { return Yield(*this); }

  // Waits until the predicate holds, and gives true; with a deadline, until that time at the
  // latest, and gives false if it did not hold by then. The predicate is a cheap function of the
  // bytes in `range` (not empty) alone, and of nothing that changes unannounced; it does not call
  // the loop. It held at a moment: bytes that others go on changing may differ when the flow runs.
  //
  // In real time the loop asks in every turn. In virtual time it asks at the start and whenever
  // placed() tells of bytes within the range.
  template <std::predicate Predicate>
  Watch<Predicate> watch(ConstBytes range, Predicate predicate,
                         std::uint64_t deadline_ns = never_ns) {
    return Watch<Predicate>(*this, watches_, range, std::move(predicate), deadline_ns);
  }

  // Tells that these bytes changed. Whoever places bytes that a flow may watch says so: a device
  // after placement, and a CPU that stores to memory that another flow watches.
  virtual void placed(ConstBytes range) = 0;

  // Charges CPU time to a core. The flow goes on when the core has spent it; a core serves in the
  // order of the calls, so a busy one makes the flow wait. In real time nothing is charged and the
  // flow goes on at once: the work itself takes the time.
  CpuTime cpu(CoreId core, std::uint64_t cost_ns) { return CpuTime(*this, charge(core, cost_ns)); }

  // Charges as cpu() does, without waiting: returns when the core will have spent it, or 0 if there
  // is nothing to wait for.
  virtual std::uint64_t charge(CoreId core, std::uint64_t cost_ns) = 0;

  // The cores that this id stands for, where it stands for several and requests queue for them;
  // null elsewhere, and always in real time. Whoever takes a request from the queue then says which
  // of them did: what is charged from there on is charged to that one.
  virtual const CoreGroup* core_group(CoreId) const { return nullptr; }
  virtual void use_core(CoreId, std::uint32_t /*which*/) {}

  // Lets a task run on its own; the loop keeps it until it finishes.
  void spawn(Task<void> task) { flows_.keep(std::move(task)); }
  // The spawned tasks that have not finished.
  std::size_t spawned() const { return flows_.size(); }

  // Asks the poller in every turn (virtual time: after every event) until it is removed or
  // destroyed. Both may be called from inside a poll.
  void add_poller(Poller& poller) { pollers_.add(poller); }
  void remove_poller(Poller& poller) { pollers_.remove(poller); }

  // Ends a sleep of the loop, or keeps the next one from beginning. Any thread: for those who have
  // changed what a poller looks at. In virtual time nobody sleeps.
  virtual void wake() {}

  // Adds a fact to the trace of the run. Virtual time folds it into the trace hash; real time
  // drops it. Tags are lower case with dashes.
  virtual void trace(std::string_view tag, std::uint64_t value) = 0;

  // Runs the loop once: real time, one turn, which may sleep until something happens; virtual time,
  // one event.
  virtual RunState turn() = 0;
  // For whoever calls turn() and may not call it again soon: tells the pollers so. The functions
  // below do so themselves.
  virtual void leave() {}

  // Runs the loop until the task has finished, or cannot: finished, stalled or exhausted. The
  // caller keeps the task.
  template <typename T>
  RunState run_until(const Task<T>& task) {
    RunState state = RunState::running;
    while (!task.finished() && state == RunState::running) {
      state = turn();
    }
    leave();
    return task.finished() ? RunState::finished : state;
  }

  // Runs the loop until the task has finished and gives its result. A task that cannot finish is a
  // bug, reported with what replays it.
  template <typename T>
  T block_on(Task<T> task) {
    require_finished(run_until(task));
    return task.take();
  }

  // Runs the loop for this span of its time: finished, or exhausted.
  virtual RunState run_for(std::uint64_t span_ns) = 0;

 protected:
  explicit Runtime(std::uint64_t seed) : random_(seed) {}

  // What a person needs to find this moment again.
  virtual std::string describe() const = 0;

  // Marks that the loop runs. Running it from inside a flow or a poller is a bug.
  class Running {
   public:
    explicit Running(Runtime& runtime);
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() { running_ = false; }

   private:
    bool& running_;
  };
  bool running() const { return running_; }

  Flows flows_;
  WatchList watches_;
  PollerSet pollers_;

 private:
  void require_finished(RunState state) const;

  Random random_;
  bool running_ = false;
};

}  // namespace remora
