// Task<T>: a flow, written as a coroutine that ends with `co_return` of a T (or of nothing).
//
// A task starts at once, in the call that makes it, and runs until it first has to wait. The Task
// object owns it: the owner awaits it (`T value = co_await task`), takes the result when it has
// finished, or hands it to Runtime::spawn. A task that is finished when it is awaited does not
// suspend its awaiter. A task that finishes later resumes its awaiter at once, on top of itself:
// the stack is as deep as the chain of awaits, however often a flow awaits.
//
// Arguments by reference, and the captures of a lambda that is a flow, must outlive the task.
//
// It is a bug to destroy a task that has not finished (but see abandon.h), to await one twice, or
// to throw out of one: each ends the program. A task and its awaiter belong to one thread.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "runtime/abandon.h"
#include "runtime/frame_pool.h"

namespace remora {

template <typename T>
class Task;

// What the promises of all coroutines here share: where the frame comes from, and that nobody
// throws.
struct FramePromise {
  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  std::suspend_never initial_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() noexcept { std::terminate(); }
};

class TaskPromiseBase : public FramePromise {
 public:
  // Resumes whoever waits. That may destroy this very frame, so nothing may follow.
  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      if (std::coroutine_handle<> awaiter = self.promise().awaiter_) {
        awaiter.resume();
      }
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  void set_awaiter(std::coroutine_handle<> awaiter) {
    REMORA_CHECK(!awaiter_, "two flows await one task");
    awaiter_ = awaiter;
  }

 private:
  std::coroutine_handle<> awaiter_;
};

template <typename T>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<T> get_return_object() noexcept;

  template <typename U>
  requires std::is_constructible_v<T, U&&>
  void return_value(U&& value) { value_.emplace(std::forward<U>(value)); }
  void return_value(T value) { value_.emplace(std::move(value)); }

  T take() {
    REMORA_CHECK(value_.has_value(), "the result of a task is taken once");
    T value = std::move(*value_);
    value_.reset();
    return value;
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() noexcept {}
  void take() {}
};

template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  // No task: may be assigned to and destroyed, nothing else.
  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  // The task that was held before must have finished.
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { destroy(); }

  // Whether this object holds a task.
  bool valid() const { return handle_ != nullptr; }
  // Whether the task has finished. False for one that is not valid.
  bool finished() const { return handle_ && handle_.done(); }

  // The result of a finished task; once.
  T take() {
    REMORA_CHECK(finished(), "took the result of a task that has not finished");
    return handle_.promise().take();
  }

  // Waits until the task has finished and takes its result.
  auto operator co_await() {
    struct Awaiter : FinishedAwaiter {
      T await_resume() { return this->handle.promise().take(); }
    };
    return Awaiter{finished_awaiter()};
  }

  // Waits until the task has finished and leaves the result for take().
  auto wait() {
    struct Awaiter : FinishedAwaiter {
      void await_resume() {}
    };
    return Awaiter{finished_awaiter()};
  }

 private:
  struct FinishedAwaiter {
    Handle handle;
    bool await_ready() { return handle.done(); }
    void await_suspend(std::coroutine_handle<> awaiter) { handle.promise().set_awaiter(awaiter); }
  };

  FinishedAwaiter finished_awaiter() {
    REMORA_CHECK(handle_, "awaited a Task that holds none");
    return FinishedAwaiter{handle_};
  }

  void destroy() {
    if (handle_) {
      REMORA_CHECK(handle_.done() || AbandonScope::active(),
                   "a task was destroyed before it finished");
      std::exchange(handle_, nullptr).destroy();
    }
  }

  Handle handle_;
};

template <typename T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(Task<T>::Handle::from_promise(*this));
}

inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(Task<void>::Handle::from_promise(*this));
}

}  // namespace remora
