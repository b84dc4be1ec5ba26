// For the tests of this layer.
#pragma once

#include <cstdint>
#include <limits>

namespace remora {

inline constexpr std::uint64_t all_ones = std::numeric_limits<std::uint64_t>::max();

}  // namespace remora
