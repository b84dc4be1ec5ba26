// Sleep: waiting for a time, from Runtime::sleep_until and sleep_for; Yield: letting others run.
#pragma once

#include <coroutine>
#include <cstdint>

#include "base/check.h"
#include "runtime/scheduler.h"

namespace remora {

// `bool elapsed = co_await sleep` goes on when the time has come, with true, or when somebody on
// the loop's thread called cancel() before that, with false. A time that has passed, or a cancel
// before the await, does not suspend. One flow awaits it, once. No allocation.
class [[nodiscard]] Sleep {
 public:
  Sleep(Scheduler& scheduler, std::uint64_t due_ns) : scheduler_(scheduler), due_ns_(due_ns) {}

  std::uint64_t due_ns() const { return due_ns_; }

  // Ends the sleep early. Does nothing once the time has come.
  void cancel() {
    if (state_ == State::sleeping) {
      scheduler_.run_soon(waiter_);
    }
    if (state_ != State::elapsed) {
      state_ = State::cancelled;
    }
  }

  bool await_ready() {
    REMORA_CHECK(state_ != State::sleeping, "two flows await one sleep");
    if (state_ == State::fresh && due_ns_ <= scheduler_.now_ns()) {
      state_ = State::elapsed;
    }
    return state_ != State::fresh;
  }
  void await_suspend(std::coroutine_handle<> flow) {
    state_ = State::sleeping;
    waiter_.suspend(flow);
    scheduler_.arm(waiter_, due_ns_);
  }
  bool await_resume() {
    if (state_ == State::sleeping) {
      state_ = State::elapsed;
    }
    return state_ == State::elapsed;
  }

 private:
  enum class State : std::uint8_t { fresh, sleeping, cancelled, elapsed };

  Scheduler& scheduler_;
  std::uint64_t due_ns_;
  Waiter waiter_;
  State state_ = State::fresh;
};

// `co_await yield` goes on after everything else that is ready had its turn. Always suspends.
class [[nodiscard]] Yield {
 public:
  explicit Yield(Scheduler& scheduler) : scheduler_(scheduler) {}

  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> flow) {
    waiter_.suspend(flow);
    scheduler_.run_soon(waiter_);
  }
  void await_resume() {}

 private:
  Scheduler& scheduler_;
  Waiter waiter_;
};

// `co_await cpu` goes on when a core has spent the time that was charged; due_ns 0 means at once.
class [[nodiscard]] CpuTime {
 public:
  CpuTime(Scheduler& scheduler, std::uint64_t due_ns) : scheduler_(scheduler), due_ns_(due_ns) {}

  bool await_ready() { return due_ns_ == 0 || due_ns_ <= scheduler_.now_ns(); }
  void await_suspend(std::coroutine_handle<> flow) {
    waiter_.suspend(flow);
    scheduler_.arm(waiter_, due_ns_);
  }
  void await_resume() {}

 private:
  Scheduler& scheduler_;
  std::uint64_t due_ns_;
  Waiter waiter_;
};

}  // namespace remora
