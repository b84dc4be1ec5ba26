// FarMemory as a crash memory, for worlds whose DMA works on that.
#pragma once

#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "tests/fabric/far_memory.h"

namespace remora::fabric::contract {

// Asks some of the images that a power cut now may leave.
bool survives_every_cut(const CrashMemory& memory, std::size_t offset, ConstBytes bytes);

class CrashTarget final : public FarMemory {
 public:
  explicit CrashTarget(std::uint64_t seed)
      : memory_(far_bytes, Platform{}, Random(mix(seed))), region_(memory_) {}

  CrashMemory& memory() { return memory_; }
  Region& region() override { return region_; }
  bool survives(std::size_t offset, ConstBytes bytes) override {
    return survives_every_cut(memory_, offset, bytes);
  }

 private:
  CrashMemory memory_;
  CrashRegion region_;
};

}  // namespace remora::fabric::contract
