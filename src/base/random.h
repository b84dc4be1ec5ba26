// Chance from a seed: the same seed gives the same numbers on every machine. Not for keys or other
// secrets; those come from the system's random source.
#pragma once

#include <cstdint>

#include "base/check.h"

namespace remora {

// One round of splitmix64: turns a counter or a weak seed into well-mixed bits.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

// xoshiro256**. Copying it copies the state: both copies then give the same numbers.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      word = seed = mix(seed);
    }
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); bound must not be 0. (Multiply-shift: the bias is below 2^-32 for the
  // bounds in use here.)
  constexpr std::uint64_t below(std::uint64_t bound) {
    REMORA_CHECK(bound != 0, "no number is below zero");
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Uniform in [low, high], both included.
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    REMORA_CHECK(low <= high, "the ends of the range are in the wrong order");
    const std::uint64_t bound = high - low + 1;
    return bound == 0 ? next() : low + below(bound);  // 0: all of the 64-bit numbers
  }

  // True with probability numerator / denominator.
  constexpr bool chance(std::uint64_t numerator, std::uint64_t denominator) {
    return below(denominator) < numerator;
  }

  // Uniform in [0, 1).
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // A generator of its own, so that drawing from one does not shift the numbers of the other.
  constexpr Random fork() { return Random(next()); }

 private:
  __extension__ using Wide = unsigned __int128;

  static constexpr std::uint64_t rotate(std::uint64_t value, int by) {
    return (value << by) | (value >> (64 - by));
  }

  std::uint64_t state_[4] = {};
};

}  // namespace remora
