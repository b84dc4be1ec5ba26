// What a store takes.
#pragma once

#include <cstddef>

namespace remora::kv::limits {

inline constexpr std::size_t key_bytes = 1024;
inline constexpr std::size_t value_bytes = 16 << 20;

}  // namespace remora::kv::limits
