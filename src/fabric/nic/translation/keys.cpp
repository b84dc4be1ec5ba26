#include "fabric/nic/translation/keys.h"

#include "runtime/system_random.h"

namespace remora::fabric::nic {

std::uint32_t Keys::next() {
  const std::uint64_t word = seeded_ ? seeded_->next() : random_word();
  return static_cast<std::uint32_t>(word >> 32);
}

}  // namespace remora::fabric::nic
