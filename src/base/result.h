// Status and Result<T>: how an expected failure travels. A failure has a code, which programs act
// on, and a message, which tells a person what is wrong and what to do about it.
//
// Success costs one null pointer and no allocation; a failure allocates.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace remora {

enum class Code : std::uint8_t {
  ok,
  invalid_argument,   // the caller asked for something that has no meaning here
  not_found,          // no such key, root, file
  already_exists,     // would overwrite something that is not to be overwritten
  no_space,           // pool, queue, table or disk is full
  permission_denied,  // the operating system or a missing right says no
  in_use,             // another process or owner holds it
  damaged,            // bytes that fail their checks
  unsupported,        // a version, a capability or a machine that cannot serve this
  io_error,           // the operating system failed; the object is closed for good
  closed,             // it was closed, or failed earlier
  timed_out,
  conflict,  // a condition that the caller named does not hold
};

// The code in words, as error messages and JSON have it: "not_found".
std::string_view to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(Code code, std::string message);

  Status(Status&&) noexcept = default;
  Status& operator=(Status&&) noexcept = default;
  Status(const Status& other);
  Status& operator=(const Status& other);

  bool ok() const { return failure_ == nullptr; }
  Code code() const { return failure_ == nullptr ? Code::ok : failure_->code; }
  // Empty on success.
  std::string_view message() const;

 private:
  struct Failure {
    Code code;
    std::string message;
  };
  std::unique_ptr<Failure> failure_;
};

// A failure of the operating system: "cannot open PATH: Permission denied", with the code that
// matches errno. `what` is the action and its object.
Status os_failure(std::string_view what, int error_number);

// Either a T or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : has_value_(true) { new (&value_) T(std::move(value)); }
  Result(Status status) : has_value_(false) {
    REMORA_CHECK(!status.ok(), "a Result made from a Status must carry a failure");
    new (&status_) Status(std::move(status));
  }
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>)
      : has_value_(other.has_value_) {
    if (has_value_) {
      new (&value_) T(std::move(other.value_));
    } else {
      new (&status_) Status(std::move(other.status_));
    }
  }
  Result& operator=(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this != &other) {
      this->~Result();
      new (this) Result(std::move(other));
    }
    return *this;
  }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() {
    if (has_value_) {
      value_.~T();
    } else {
      status_.~Status();
    }
  }

  bool ok() const { return has_value_; }
  Code code() const { return has_value_ ? Code::ok : status_.code(); }
  // The failure, or success.
  Status status() const { return has_value_ ? Status() : status_; }

  // The value. It is a bug to ask for the value of a failure.
  T& value() & {
    REMORA_CHECK(has_value_, "asked a failed Result for its value");
    return value_;
  }
  const T& value() const& {
    REMORA_CHECK(has_value_, "asked a failed Result for its value");
    return value_;
  }
  T&& value() && {
    REMORA_CHECK(has_value_, "asked a failed Result for its value");
    return std::move(value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  union {
    T value_;
    Status status_;
  };
  bool has_value_;
};

}  // namespace remora

// Returns the failure of `expression` (a Status) to the caller, or goes on.
#define REMORA_TRY(expression)                                                        \
  do {                                                                                \
    if (::remora::Status remora_try_status = (expression); !remora_try_status.ok()) { \
      return remora_try_status;                                                       \
    }                                                                                 \
  } while (false)

// The same in a coroutine.
#define REMORA_CO_TRY(expression)                                                     \
  do {                                                                                \
    if (::remora::Status remora_try_status = (expression); !remora_try_status.ok()) { \
      co_return remora_try_status;                                                    \
    }                                                                                 \
  } while (false)

// Makes `name`, the Result of the expression. Returns its failure to the caller, or goes on with
// `name` holding a value. Two statements: it stands where declarations do.
#define REMORA_TRY_RESULT(name, ...) \
  auto name = (__VA_ARGS__);         \
  if (!name.ok()) {                  \
    return name.status();            \
  }                                  \
  static_assert(true)

// The same in a coroutine.
#define REMORA_CO_TRY_RESULT(name, ...) \
  auto name = (__VA_ARGS__);            \
  if (!name.ok()) {                     \
    co_return name.status();            \
  }                                     \
  static_assert(true)
