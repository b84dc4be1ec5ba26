// How failures travel through the public API: as values. An Expected is either what was asked for
// or an Error, which has a code for programs and a message for people that says what to do.
//
// Any thread; no state.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace remora {

enum class ErrorCode : std::uint8_t {
  invalid_argument = 1,   // a key, value or option that cannot be
  not_found = 2,          // no such key, file or listening store
  already_exists = 3,     //
  no_space = 4,           // pool, disk or buffers are full
  permission_denied = 5,  // the system, or this client's role, says no
  in_use = 6,             // another process has the pool
  damaged = 7,            // bytes that fail their checks
  unsupported = 8,        // another version, or a machine that cannot serve this
  io_error = 9,           // the operating system failed
  closed = 10,            // the store is gone: make a new one
  timed_out = 11,         // no answer in time: a put may or may not have happened
  conflict = 12,          // a condition of a write of several keys does not hold
};

// "not_found"
std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::closed;
  std::string message;
};

// What Expected::value throws.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const Error& error) : std::runtime_error(error.message), code_(error.code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }

  // The value; throws Failure if it is an Error.
  T& value() & { return require(), std::get<0>(state_); }
  const T& value() const& { return require(), std::get<0>(state_); }
  T&& value() && { return require(), std::get<0>(std::move(state_)); }
  // Not to be asked of a failure.
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }

  // Not to be asked of a success.
  const Error& error() const { return std::get<1>(state_); }
  bool is(ErrorCode code) const { return !ok() && error().code == code; }

 private:
  void require() const {
    if (!ok()) {
      throw Failure(error());
    }
  }
  std::variant<T, Error> state_;
};

// Success, or an Error.
template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }
  void value() const {
    if (!ok()) {
      throw Failure(error());
    }
  }
  const Error& error() const { return std::get<1>(state_); }
  bool is(ErrorCode code) const { return !ok() && error().code == code; }

 private:
  std::variant<std::monostate, Error> state_;
};

}  // namespace remora
