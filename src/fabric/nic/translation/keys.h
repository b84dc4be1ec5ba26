// Keys: where a device takes the numbers from that nobody may guess: memory keys, queue pair
// numbers and first packet sequence numbers.
#pragma once

#include <cstdint>
#include <optional>

#include "base/random.h"

namespace remora::fabric::nic {

class Keys {
 public:
  // From the system's random source: for every device that others can reach.
  static Keys from_system() { return Keys(std::nullopt); }
  // From a seed, so that a simulated run can be replayed. Everybody who knows the seed knows them.
  static Keys from_seed(std::uint64_t seed) { return Keys(Random(seed)); }

  std::uint32_t next();

 private:
  explicit Keys(std::optional<Random> seeded) : seeded_(seeded) {}

  std::optional<Random> seeded_;
};

}  // namespace remora::fabric::nic
