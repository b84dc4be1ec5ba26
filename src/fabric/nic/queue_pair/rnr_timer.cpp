#include "fabric/nic/queue_pair/rnr_timer.h"

#include <array>

namespace remora::fabric::nic {
namespace {

// In units of 10 microseconds. Code 0 is the longest.
constexpr std::array<std::uint32_t, 32> waits = {
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
constexpr std::uint64_t unit_ns = 10'000;

}  // namespace

std::uint8_t rnr_code(std::uint64_t delay_ns) {
  for (std::uint8_t code = 1; code < waits.size(); ++code) {
    if (waits[code] * unit_ns >= delay_ns) {
      return code;
    }
  }
  return 0;
}

std::uint64_t rnr_delay_ns(std::uint8_t code) {
  return waits[code & 31] * unit_ns;
}

}  // namespace remora::fabric::nic
