// Outcome<T>: a T, or the errno that POSIX has for this failure. File operations return errnos and
// no messages: programs act on them, and a failure in the middle of a busy loop costs nothing.
#pragma once

#include <cerrno>
#include <utility>

namespace remora::file {

// 0 is success.
struct [[nodiscard]] Errno {
  int number = 0;

  bool ok() const { return number == 0; }
  int error() const { return number; }
};

template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}
  Outcome(Errno failure) : error_(failure.number) {}

  bool ok() const { return error_ == 0; }
  int error() const { return error_; }
  Errno failure() const { return Errno{error_}; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }
  const T* operator->() const { return &value_; }

 private:
  int error_ = 0;
  T value_{};
};

}  // namespace remora::file

// Returns the errno of `expression` (an Errno or an Outcome) to the caller, or goes on.
#define REMORA_FILE_TRY(expression)                                          \
  do {                                                                       \
    if (const auto& remora_file_try = (expression); !remora_file_try.ok()) { \
      return ::remora::file::Errno{remora_file_try.error()};                 \
    }                                                                        \
  } while (false)

// Makes `name`, the Outcome of the expression, or returns its errno to the caller.
#define REMORA_FILE_TRY_OUTCOME(name, ...)      \
  auto name = (__VA_ARGS__);                    \
  if (!name.ok()) {                             \
    return ::remora::file::Errno{name.error()}; \
  }                                             \
  static_assert(true)
