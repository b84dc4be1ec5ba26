// Event and Completion<T>: something that happens once. The side that makes it happen (a poller, a
// timer, another flow on the same loop) calls set; one flow awaits. Nothing is allocated, and set
// never runs the flow itself: the loop resumes it in its turn.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "base/check.h"
#include "runtime/abandon.h"
#include "runtime/scheduler.h"

namespace remora {

// It must outlive its awaiting flow's wait, and the scheduler must outlive it. One thread.
class Event {
 public:
  explicit Event(Scheduler& scheduler) : scheduler_(scheduler) {}
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() {
    REMORA_CHECK(waiting_.empty() || AbandonScope::active(),
                 "an event was destroyed while a flow waits for it");
  }

  bool is_set() const { return set_; }

  // It has happened. To be called once.
  void set() {
    REMORA_CHECK(!set_, "an event happens once");
    set_ = true;
    if (!waiting_.empty()) {
      scheduler_.run_soon(waiting_.pop_front());
    }
  }

  // Waits for set(); does not suspend if that was called before.
  class [[nodiscard]] Awaiter {
   public:
    explicit Awaiter(Event& event) : event_(event) {}
    bool await_ready() { return event_.set_; }
    void await_suspend(std::coroutine_handle<> flow) {
      REMORA_CHECK(event_.waiting_.empty(), "two flows await one event");
      waiter_.suspend(flow);
      event_.waiting_.push_back(waiter_);
    }
    void await_resume() {}

   private:
    Event& event_;
    Waiter waiter_;
  };
  Awaiter operator co_await() { return Awaiter(*this); }

 private:
  Scheduler& scheduler_;
  IntrusiveList<Waiter> waiting_;  // at most one
  bool set_ = false;
};

// An Event that brings a value. The value is taken by the await, so it is awaited once.
template <typename T>
class Completion {
 public:
  explicit Completion(Scheduler& scheduler) : event_(scheduler) {}

  bool is_set() const { return event_.is_set(); }

  // It has happened, with this outcome. To be called once.
  void set(T value) {
    event_.set();
    value_.emplace(std::move(value));
  }

  // `T value = co_await completion`.
  class [[nodiscard]] Awaiter {
   public:
    explicit Awaiter(Completion& completion)
        : completion_(completion), awaiter_(completion.event_) {}
    bool await_ready() { return awaiter_.await_ready(); }
    void await_suspend(std::coroutine_handle<> flow) { awaiter_.await_suspend(flow); }
    T await_resume() {
      REMORA_CHECK(completion_.value_.has_value(), "the value of a completion is taken once");
      T value = std::move(*completion_.value_);
      completion_.value_.reset();
      return value;
    }

   private:
    Completion& completion_;
    Event::Awaiter awaiter_;
  };
  Awaiter operator co_await() { return Awaiter(*this); }

 private:
  Event event_;
  std::optional<T> value_;
};

}  // namespace remora
