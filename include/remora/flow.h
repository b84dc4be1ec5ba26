// Coroutines of the public API.
//
//   Pending<T>  an operation under way. It was started by the call that returned it; it is awaited
//               in a coroutine (`Expected<T> result = co_await pending`), or by Store::wait.
//   Flow<T>     a coroutine that awaits them, and other flows. It starts at once, in the call that
//               makes it, and runs while its store's loop does: in Store::run, wait or any blocking
//               call.
//
// Both belong to the thread that uses the store, and end before the store does. Arguments that a
// flow takes by reference must outlive it.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <remora/error.h>

namespace remora {

template <typename T>
struct PendingState {
  std::optional<Expected<T>> result;
  std::coroutine_handle<> waiter;
};

template <typename T>
class [[nodiscard]] Pending {
 public:
  explicit Pending(std::shared_ptr<PendingState<T>> state) : state_(std::move(state)) {}

  // Whether it has ended.
  bool ready() const { return state_->result.has_value(); }
  // The outcome of one that has ended; once.
  Expected<T> take() { return *std::exchange(state_->result, std::nullopt); }

  // Awaited by one coroutine, once.
  bool await_ready() const { return ready(); }
  void await_suspend(std::coroutine_handle<> waiter) { state_->waiter = waiter; }
  Expected<T> await_resume() { return take(); }

 private:
  std::shared_ptr<PendingState<T>> state_;
};

template <typename T>
class Flow;

namespace detail {

struct FlowPromiseBase {
  struct Final {
    bool await_ready() noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      if (std::coroutine_handle<> waiter = self.promise().waiter) {
        waiter.resume();
      }
    }
    void await_resume() noexcept {}
  };
  std::suspend_never initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() { thrown = std::current_exception(); }

  std::coroutine_handle<> waiter;
  std::exception_ptr thrown;
};

template <typename T>
struct FlowPromise : FlowPromiseBase {
  Flow<T> get_return_object();
  void return_value(T result) { value.emplace(std::move(result)); }
  T take() {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
    return std::move(*value);
  }
  std::optional<T> value;
};

template <>
struct FlowPromise<void> : FlowPromiseBase {
  Flow<void> get_return_object();
  void return_void() {}
  void take() {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  }
};

}  // namespace detail

template <typename T>
class [[nodiscard]] Flow {
 public:
  using promise_type = detail::FlowPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Flow(Handle handle) : handle_(handle) {}
  Flow(Flow&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Flow& operator=(Flow&&) = delete;
  // It must have ended.
  ~Flow() {
    if (handle_) {
      handle_.destroy();
    }
  }

  bool ready() const { return handle_.done(); }
  // What it returned, or throws what it threw; once, when it has ended.
  T take() { return handle_.promise().take(); }

  bool await_ready() const { return ready(); }
  void await_suspend(std::coroutine_handle<> waiter) { handle_.promise().waiter = waiter; }
  T await_resume() { return take(); }

 private:
  Handle handle_;
};

namespace detail {

template <typename T>
Flow<T> FlowPromise<T>::get_return_object() {
  return Flow<T>(Flow<T>::Handle::from_promise(*this));
}
inline Flow<void> FlowPromise<void>::get_return_object() {
  return Flow<void>(Flow<void>::Handle::from_promise(*this));
}

}  // namespace detail

}  // namespace remora
