// Walk: the places of an area, all of them, again and again, by a step that no prefetcher follows.
// An area many times the caches of a core is then cold at every place, but for a cache that cores
// share.
#pragma once

#include <bit>
#include <cstddef>

#include "base/check.h"

namespace remora::bench {

class Walk {
 public:
  // The number of places is a power of two.
  explicit Walk(std::size_t places, std::size_t start = 0) : mask_(places - 1), at_(start) {
    REMORA_CHECK(std::has_single_bit(places), "a walk needs a power of two of places");
  }

  // The number of the next place, from 0.
  std::size_t next() {
    at_ += step;
    return at_ & mask_;
  }

 private:
  static constexpr std::size_t step = 0x9e3779b1;  // odd: it meets every place of a power of two

  std::size_t mask_;
  std::size_t at_;
};

}  // namespace remora::bench
