// Living: how much lives in which part of the pool, which tells what to clean. Every put adds
// one version and takes another, so nothing is searched for: parts have one size, and what shares a
// part with a neighbouring segment counts for both. What nothing leads to does not count, though it
// may have to be kept: deletions from before the last recovery.
//
// One thread. Allocates when it is made, and when it grows.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "kv/log/log.h"

namespace remora::kv::efactory {

class Living {
 public:
  Living(std::uint64_t pool_bytes, std::uint64_t segment_bytes)
      : shift_(static_cast<unsigned>(std::bit_width(segment_bytes / parts_of_segment)) - 1),
        parts_((pool_bytes >> shift_) + 1) {}

  void grow(std::uint64_t pool_bytes) { parts_.resize((pool_bytes >> shift_) + 1); }

  // Something that begins there lives, or does not any more.
  void add(Offset offset, std::uint64_t size_bytes) {
    parts_[offset >> shift_] += units(size_bytes);
  }
  void take(Offset offset, std::uint64_t size_bytes) {
    parts_[offset >> shift_] -= units(size_bytes);
  }

  std::uint64_t within(const Segment& segment) const {
    std::uint64_t sum = 0;
    const std::uint64_t last = (segment.offset + segment.capacity_bytes - 1) >> shift_;
    for (std::uint64_t part = segment.offset >> shift_; part <= last; ++part) {
      sum += parts_[part];
    }
    return sum * unit_bytes;
  }

 private:
  static constexpr std::uint64_t parts_of_segment = 32;
  // Objects have whole ones. With these, and few parts, a table stays in the nearest cache.
  static constexpr std::uint64_t unit_bytes = object_format::alignment_bytes;

  static std::uint32_t units(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(bytes / unit_bytes);
  }

  unsigned shift_;
  std::vector<std::uint32_t> parts_;
};

}  // namespace remora::kv::efactory
