// FarMemory that another process, or another mapping in this one, can share, and that still knows
// what a power cut would leave of it. The bytes are a memory file. Beside them is a crash memory:
// every call that asks for persistence, on whichever side of the fabric, first takes over the bytes
// as they are and then asks there.
#pragma once

#include "lab/memory/crash_memory.h"
#include "lab/memory/crash_region.h"
#include "tests/fabric/far_memory.h"

namespace remora::fabric::contract {

class MirroredTarget final : public FarMemory {
 public:
  MirroredTarget(std::uint64_t seed, const Platform& platform);
  Region& region() override { return *region_; }
  bool survives(std::size_t offset, ConstBytes bytes) override;

  // How the peer that has mapped all of it there asks for persistence: an actor of its own.
  Result<std::unique_ptr<Region>> view(Bytes mapped);

 private:
  std::unique_ptr<Region> memory_;  // the bytes, and the file
  CrashMemory mirror_;
  std::unique_ptr<Region> region_;
};

}  // namespace remora::fabric::contract
