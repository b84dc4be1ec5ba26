#include "fabric/nic/core/completions.h"

#include <algorithm>
#include <cstring>

namespace remora::fabric::nic {

[[gnu::always_inline]] inline void Completions::copy_out(std::uint32_t number,
                                                         WorkCompletion& out) const {
  const Entry& entry = ring_[number & mask_];
  auto* const to = reinterpret_cast<std::byte*>(&out);
  std::memcpy(to, &entry.pair, sizeof entry.pair);
  std::memcpy(to + sizeof entry.pair, &entry.third, sizeof entry.third);
}

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  const std::uint32_t first = limit_ - capacity_;
  // Whoever waits for one takes one.
  if (out.size() == 1 && first != behind_) [[likely]] {
    copy_out(first, out[0]);
    ++limit_;
    return 1;
  }
  const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), behind_ - first));
  for (std::uint32_t i = 0; i < taken; ++i) {
    copy_out(first + i, out[i]);
  }
  limit_ += taken;
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
