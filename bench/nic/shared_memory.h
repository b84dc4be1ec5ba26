// SharedMemory: zeroed memory that this process shares with those that it forks afterwards.
#pragma once

#include <cstddef>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace remora::bench {

class SharedMemory {
 public:
  static Result<SharedMemory> create(std::size_t size_bytes);
  SharedMemory(SharedMemory&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  SharedMemory& operator=(SharedMemory&&) = delete;
  ~SharedMemory();

  Bytes bytes() const { return bytes_; }
  template <typename T>
  T& as() const {
    return *reinterpret_cast<T*>(bytes_.data());
  }

 private:
  explicit SharedMemory(Bytes bytes) : bytes_(bytes) {}

  Bytes bytes_;
};

// Touches every page, so that this process meets no page fault there later.
void touch(Bytes bytes);

}  // namespace remora::bench
