// Structs in messages. What arrives comes from outside: sizes are checked before anything is read.
#pragma once

#include <cstring>
#include <optional>
#include <type_traits>

#include "base/bytes.h"

namespace remora::kv {

// The struct at the start of a message, or nothing when that is too short.
template <typename T>
std::optional<T> read_struct(ConstBytes bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <typename T>
std::size_t write_struct(Bytes bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(bytes.data(), &value, sizeof value);
  return sizeof value;
}

}  // namespace remora::kv
