// Parts: where the bytes of one packet lie, in their order.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/bytes.h"
#include "fabric/nic/limits.h"

namespace remora::fabric::nic {

class Parts {
 public:
  // False when there is no place for one more.
  [[nodiscard]] bool add(Bytes part) {
    if (count_ == parts_.size()) {
      return false;
    }
    parts_[count_++] = part;
    return true;
  }
  void clear() { count_ = 0; }
  std::span<const Bytes> all() const { return {parts_.data(), count_}; }

 private:
  std::array<Bytes, limits::parts> parts_;
  std::size_t count_ = 0;
};

}  // namespace remora::fabric::nic
