// The bytes of a fuzzer as a source of choices. When they are at their end, all that is left is
// zero.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"

namespace remora::fabric::nic::fuzz {

class Input {
 public:
  explicit Input(ConstBytes bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) {
      return 0;
    }
    const auto value = std::to_integer<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint16_t two() {
    const std::uint8_t low = byte();
    return static_cast<std::uint16_t>(low | byte() << 8);
  }
  ConstBytes take(std::size_t size_bytes) {
    const ConstBytes taken = rest_.first(std::min(size_bytes, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

 private:
  ConstBytes rest_;
};

}  // namespace remora::fabric::nic::fuzz
