#include "tests/fabric/crash_target.h"

#include <algorithm>

#include "lab/memory/images.h"

namespace remora::fabric::contract {

bool survives_every_cut(const CrashMemory& memory, std::size_t offset, ConstBytes bytes) {
  Images images({.exhaustive = 8, .samples = 8});
  images.take(memory, Random(1));
  while (images.next()) {
    const ConstBytes kept = images.bytes().subspan(offset, bytes.size());
    if (!std::equal(bytes.begin(), bytes.end(), kept.begin())) {
      return false;
    }
  }
  return true;
}

std::unique_ptr<FarMemory> make_far_memory(std::uint64_t seed) {
  return std::make_unique<CrashTarget>(seed);
}

}  // namespace remora::fabric::contract
