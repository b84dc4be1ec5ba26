#include "fabric/nic/core/completions.h"

#include <algorithm>

namespace remora::fabric::nic {

std::size_t Completions::poll(std::span<WorkCompletion> out) {
  const std::uint32_t taken = static_cast<std::uint32_t>(std::min<std::size_t>(out.size(), count_));
  for (std::uint32_t i = 0; i < taken; ++i) {
    out[i] = ring_[first_];
    first_ = first_ + 1 == ring_.size() ? 0 : first_ + 1;
  }
  count_ -= taken;
  return taken;
}

void Completions::push(const WorkCompletion& completion, bool solicited) {
  if (count_ == ring_.size()) [[unlikely]] {
    overruns_ += overrun_ ? 0 : 1;
    overrun_ = true;
    return;
  }
  const std::uint32_t behind = first_ + count_;
  ring_[behind < ring_.size() ? behind : behind - ring_.size()] = completion;
  ++count_;
  const bool urgent = solicited || completion.status != WorkStatus::success;
  if (armed_ == Armed::for_any || (armed_ == Armed::for_solicited && urgent)) {
    armed_ = Armed::no;
    ++events_;
  }
}

}  // namespace remora::fabric::nic
