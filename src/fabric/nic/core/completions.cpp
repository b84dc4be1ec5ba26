#include "fabric/nic/core/completions.h"

#include <algorithm>
#include <cstring>

namespace remora::fabric::nic {

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  const std::uint32_t taken = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), count_));
  for (std::uint32_t i = 0; i < taken; ++i) {
    for (std::size_t word = 0; word < ring_[first_].size(); ++word) {
      std::uint64_t value = ring_[first_][word];
      asm volatile("" : "+r"(value));  // one word at a time, see Words
      std::memcpy(reinterpret_cast<std::byte*>(&out[i]) + word * word_bytes, &value, word_bytes);
    }
    first_ = first_ + 1 == ring_.size() ? 0 : first_ + 1;
  }
  count_ -= taken;
  return taken;
}

}  // namespace remora::fabric::nic
