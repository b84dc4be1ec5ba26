#include "fabric/nic/core/completions.h"

#include <algorithm>
#include <cstring>

namespace remora::fabric::nic {

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  const std::uint32_t taken = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), count_));
  if (taken == 0) {
    return 0;
  }
  std::uint32_t first = first_;
  for (std::uint32_t i = 0; i < taken; ++i) {
    const Words& words = ring_[first];
    // One word at a time, see Words.
    std::uint64_t a = words[0];
    std::uint64_t b = words[1];
    std::uint64_t c = words[2];
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c));
    auto* const to = reinterpret_cast<std::byte*>(&out[i]);
    std::memcpy(to, &a, word_bytes);
    std::memcpy(to + word_bytes, &b, word_bytes);
    asm volatile("" ::: "memory");
    std::memcpy(to + 2 * word_bytes, &c, word_bytes);
    first = first + 1 == capacity_ ? 0 : first + 1;
  }
  first_ = first;
  count_ -= taken;
  return taken;
}

}  // namespace remora::fabric::nic
