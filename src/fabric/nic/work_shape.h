// The shape of a request: what it is and how it is to be done, in one word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fabric/work.h"

namespace remora::fabric::nic {

inline constexpr unsigned work_shape_bits = 40;

// The bytes from its opcode to `solicited`, the opcode lowest; zeros above them.
inline std::uint64_t work_shape(const SendWork& work) {
  static_assert(offsetof(SendWork, opcode) == 8 && offsetof(SendWork, signalled) == 9 &&
                offsetof(SendWork, inline_data) == 10 && offsetof(SendWork, fence) == 11 &&
                offsetof(SendWork, solicited) == 12);
  std::uint64_t shape;
  std::memcpy(&shape, reinterpret_cast<const std::byte*>(&work) + 8, sizeof shape);
  return shape & ((std::uint64_t{1} << work_shape_bits) - 1);
}

// The way in which it is to be done alone: its first four bytes, from its opcode to `fence`. A load
// that is larger than the stores before it would wait for them.
inline std::uint32_t work_way(const SendWork& work) {
  std::uint32_t way;
  std::memcpy(&way, reinterpret_cast<const std::byte*>(&work) + 8, sizeof way);
  return way;
}
// That of one with its data where its pieces say, and without a fence.
constexpr std::uint32_t work_way(Opcode opcode, bool signalled) {
  return static_cast<std::uint32_t>(opcode) | std::uint32_t{signalled} << 8;
}

}  // namespace remora::fabric::nic
