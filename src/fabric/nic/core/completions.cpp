#include "fabric/nic/core/completions.h"

#include <algorithm>
#include <cstring>

namespace remora::fabric::nic {

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  const std::uint32_t taken =
      static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), behind_ - first_));
  for (std::uint32_t i = 0; i < taken; ++i) {
    const Entry& entry = ring_[(first_ + i) & mask_];
    auto* const to = reinterpret_cast<std::byte*>(&out[i]);
    std::memcpy(to, &entry.pair, sizeof entry.pair);
    std::memcpy(to + sizeof entry.pair, &entry.third, sizeof entry.third);
  }
  first_ += taken;
  return taken;
}

void Completions::lose() {
  overruns_ += overrun_ ? 0 : 1;
  overrun_ = true;
}

void Completions::raise(bool urgent) {
  if (armed_ == Armed::for_any || urgent) {
    armed_ = Armed::no;
    ++events_;
  }
}

}  // namespace remora::fabric::nic
