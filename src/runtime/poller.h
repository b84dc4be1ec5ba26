// Poller: a source of work that the loop asks in every turn (a completion queue, a socket, a ring
// in shared memory), and PollerSet: the pollers of a loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace remora {

class PollerSet;

// A place where a loop sleeps for many descriptors with one call: a poller that has an epoll set of
// its own lets the loop sleep there, and so finds what is ready without asking once more.
class Sleeper {
 public:
  virtual ~Sleeper() = default;
  // From now on a sleep ends when this descriptor is readable, too. The loop closes it before it
  // names another. False when that cannot be.
  virtual bool watch_also(int others) = 0;
  // Sleeps, at most so long (never_ns: for ever), and keeps what it found for the next poll().
  // Returns whether the others' descriptor was readable.
  virtual bool sleep(std::uint64_t span_ns) = 0;
};

// Called on the loop's thread alone. A poller that is destroyed leaves its loop.
class Poller {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  virtual ~Poller();

  // Does a bounded amount of work, without blocking; returns whether there was any. It may remove
  // or destroy any poller, itself included, and add others: those are first asked in the next turn.
  virtual bool poll() = 0;

  // A descriptor that becomes readable when poll() has work, or -1. A loop with a poller that has
  // none cannot sleep for long. Constant while the poller is in a loop; the poller keeps it open,
  // and poll() consumes what made it readable.
  virtual int wake_fd() const { return -1; }

  // For pollers with a descriptor: called before the loop sleeps, to ask the source for a wake-up.
  // Returns false when there is work now, so that the loop does not sleep.
  virtual bool arm_wake() { return true; }

  // The loop has slept since arm_wake(), and the descriptor was not readable after that: there is
  // nothing to ask the system for.
  virtual void nothing_came() {}

  // Whoever drives the loop has something else to do now, for how long nobody knows: what must not
  // wait for the next poll is done.
  virtual void pause_begins() {}

  // For pollers with an epoll set.
  virtual Sleeper* sleeper() { return nullptr; }

  // For pollers without a descriptor: whether they have work only after another poller of the loop
  // had some, or as long as arm_wake(), which is then asked of them too, says no.
  virtual bool follows() const { return false; }

  // Whether what it serves is worth idle turns before the loop sleeps: peers that answer sooner
  // than a sleep would take. When no poller wants them, the loop sleeps at once.
  virtual bool wants_spin() const { return true; }

  // Whether idle turns are of no use, whatever other pollers want: all that it serves waits for
  // another thread, which may need the processor.
  virtual bool wants_sleep() const { return false; }

 private:
  friend class PollerSet;
  PollerSet* set_ = nullptr;
};

class PollerSet {
 public:
  PollerSet() = default;
  PollerSet(const PollerSet&) = delete;
  PollerSet& operator=(const PollerSet&) = delete;
  ~PollerSet() { clear(); }

  bool empty() const { return count_ == 0; }
  // Changes whenever a poller comes or goes.
  std::size_t version() const { return version_; }

  // The poller must be in no loop, and outlives its stay in this one.
  void add(Poller& poller);
  // The poller must be in this set. It is not asked again, even in the turn that goes on.
  void remove(Poller& poller);
  void clear();

  // Whether idle turns are of use: some poller wants them and none wants to sleep, or there is none
  // to ask.
  bool wants_spin() const;

  // Asks every poller once, in the order in which they came; returns whether one had work.
  bool poll_all();

  // Calls visit(poller) for each; the visit changes nothing in the set.
  template <typename Visit>
  void for_each(Visit visit) {
    for (Poller* poller : pollers_) {
      if (poller != nullptr) {
        visit(*poller);
      }
    }
  }

 private:
  std::vector<Poller*> pollers_;  // null: removed during poll_all, to be swept after it
  std::size_t count_ = 0;
  std::size_t version_ = 0;
  bool polling_ = false;
};

}  // namespace remora
