// Far's persistent memory in the worlds of one process: memory that can tell what a power cut would
// leave of it.
#pragma once

#include <memory>

#include "pmem/region.h"

namespace remora::fabric::contract {

inline constexpr std::size_t far_bytes = 64 * page_bytes;

class FarMemory {
 public:
  virtual ~FarMemory() = default;
  virtual Region& region() = 0;
  // Asks some of the images that a power cut now may leave, the one with all in doubt lost and the
  // one with all of it kept among them.
  virtual bool survives(std::size_t offset, ConstBytes bytes) = 0;
};

std::unique_ptr<FarMemory> make_far_memory(std::uint64_t seed);

}  // namespace remora::fabric::contract
