// Timer: something that a loop will run once, later; Waiter: the timer that resumes a flow. Both
// live in their user's memory (a frame, an object): arming one allocates nothing. The user keeps a
// timer alive while it is armed, or destroys it, which disarms it. One thread: the loop's.
#pragma once

#include <coroutine>
#include <cstddef>

#include "runtime/intrusive_list.h"

namespace remora {

class TimerQueue;

class Timer : public ListHook {
 public:
  Timer() = default;
  virtual ~Timer() { disarm(); }

  // Called by the loop, with the timer disarmed: it may be armed again or destroyed from here.
  virtual void expire() = 0;

  // Whether a loop is going to run it.
  bool armed() const { return queue_ != nullptr || linked(); }

  // The loop forgets it; it can be armed again. Does nothing for one that is not armed, as most are
  // when they go.
  void disarm() {
    if (armed()) {
      forget();
    }
  }

 private:
  friend class TimerQueue;

  void forget();

  TimerQueue* queue_ = nullptr;  // where it is due at a time; a list has it if it is due soon
  std::size_t slot_ = 0;
};

// A suspended flow. As a list member it may also stand in the list of those who wait for something.
class Waiter : public Timer {
 public:
  void suspend(std::coroutine_handle<> flow) { flow_ = flow; }
  void expire() override { flow_.resume(); }

 private:
  std::coroutine_handle<> flow_;
};

}  // namespace remora
