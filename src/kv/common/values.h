// What every client does with keys and values.
#pragma once

#include <fmt/format.h>

#include <cstring>

#include "base/bytes.h"
#include "base/result.h"
#include "kv/limits.h"

namespace remora::kv {

inline Status check_sizes(ConstBytes key, ConstBytes value) {
  if (key.empty() || key.size() > limits::key_bytes || value.size() > limits::value_bytes) {
    return Status(Code::invalid_argument, "a key has 1 byte to 1 KB, a value at most 16 MB");
  }
  return {};
}

inline bool same(ConstBytes a, ConstBytes b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

// A value for the caller of a get.
inline Result<std::size_t> copy_out(ConstBytes from, Bytes to) {
  if (from.size() > to.size()) {
    return Status(Code::no_space, fmt::format("the value has {} bytes, the buffer only {}",
                                              from.size(), to.size()));
  }
  copy_bytes(to.data(), from);
  return from.size();
}

}  // namespace remora::kv
