#include "fabric/nic/completions.h"

#include <algorithm>
#include <cstring>

namespace remora::fabric::nic {

[[gnu::always_inline]] inline void Completions::copy_out(const Entry& entry, WorkCompletion& out) {
  auto* const to = reinterpret_cast<std::byte*>(&out);
  std::memcpy(to, &entry.pair, sizeof entry.pair);
  std::memcpy(to + sizeof entry.pair, &entry.third, sizeof entry.third);
}

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  // Whoever waits for one takes one.
  if (out.size() == 1 && front_.mark == holds) [[likely]] {
    copy_out(front_, out[0]);
    front_.mark = 0;
    return 1;
  }
  return poll_any(out);
}

[[gnu::noinline]] std::size_t Completions::poll_any(std::span<WorkCompletion> out) {
  if (out.empty() || front_.mark == 0) {
    return 0;
  }
  std::uint32_t taken = 0;
  if ((front_.mark & holds) != 0) {
    copy_out(front_, out[0]);
    limit_ += (front_.mark & closed) != 0 ? 1 : 0;
    front_.mark &= ~holds;
    taken = 1;
  }
  std::uint32_t first = limit_ - capacity_;
  const auto rest =
      static_cast<std::uint32_t>(std::min<std::size_t>(out.size() - taken, behind_ - first));
  for (std::uint32_t i = 0; i < rest; ++i) {
    copy_out(ring_[(first + i) & mask_], out[taken + i]);
  }
  first += rest;
  limit_ += rest;
  if (first == behind_ && armed_ == Armed::no) {
    front_.mark = 0;
  }
  return taken + rest;
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
