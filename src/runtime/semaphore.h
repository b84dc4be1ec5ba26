// Semaphore: a number of credits that flows take and give back; what bounds work in flight. First
// come, first served: a flow that waits is not overtaken, even by one that wants less. Nothing is
// allocated, and release never runs a flow itself: the loop resumes it in its turn. One thread.
#pragma once

#include <coroutine>
#include <cstdint>

#include "base/check.h"
#include "runtime/abandon.h"
#include "runtime/scheduler.h"

namespace remora {

// No flow may be waiting when it is destroyed; the scheduler must outlive it.
class Semaphore {
 public:
  Semaphore(Scheduler& scheduler, std::uint64_t credits)
      : scheduler_(scheduler), credits_(credits), available_(credits) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  ~Semaphore() {
    REMORA_CHECK(waiting_.empty() || AbandonScope::active(),
                 "a semaphore was destroyed while a flow waits for it");
  }

  // The credits that there are in all, and those that nobody holds.
  std::uint64_t credits() const { return credits_; }
  std::uint64_t available() const { return available_; }

  // Takes the credits if they are there and nobody waits; never suspends.
  [[nodiscard]] bool try_acquire(std::uint64_t count = 1) {
    if (!waiting_.empty() || count > available_) {
      return false;
    }
    available_ -= count;
    return true;
  }

  // Gives credits back; those who wait get theirs here, in their order. It is a bug to give back
  // more than was taken.
  void release(std::uint64_t count = 1) {
    REMORA_CHECK(count <= credits_ - available_, "more credits given back than were taken");
    available_ += count;
    while (!waiting_.empty() && waiting_.front().count() <= available_) {
      Awaiter& next = waiting_.pop_front();
      available_ -= next.count();
      scheduler_.run_soon(next);
    }
  }

  // `co_await semaphore.acquire(n)` goes on when n credits are the flow's. More than there are in
  // all would wait for ever: a bug.
  class [[nodiscard]] Awaiter final : public Waiter {
   public:
    Awaiter(Semaphore& semaphore, std::uint64_t count) : semaphore_(semaphore), count_(count) {
      REMORA_CHECK(count <= semaphore.credits_, "more credits wanted than there are in all");
    }
    std::uint64_t count() const { return count_; }
    bool await_ready() { return semaphore_.try_acquire(count_); }
    void await_suspend(std::coroutine_handle<> flow) {
      suspend(flow);
      semaphore_.waiting_.push_back(*this);
    }
    void await_resume() {}

   private:
    Semaphore& semaphore_;
    std::uint64_t count_;
  };
  Awaiter acquire(std::uint64_t count = 1) { return Awaiter(*this, count); }

 private:
  Scheduler& scheduler_;
  std::uint64_t credits_;
  std::uint64_t available_;
  IntrusiveList<Awaiter> waiting_;
};

}  // namespace remora
