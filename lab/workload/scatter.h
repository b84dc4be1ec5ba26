// Permutations of numbers: they spread what is popular over all keys, and keys over their order,
// and lose nothing: no two numbers meet. They are the same on every machine and for every seed, so
// that all clients of a run agree on which keys are hot.
//
// Any thread; never fails.
#pragma once

#include <bit>
#include <cstdint>

namespace remora::workload {

// A permutation of the numbers below 2^bits; bits is at most 64, and value below 2^bits.
constexpr std::uint64_t permute(std::uint64_t value, unsigned bits) {
  if (bits == 0) {
    return 0;
  }
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  const unsigned half = (bits + 1) / 2;
  const unsigned shift = half < 2 ? 1 : half;
  value = (value + 0x9e3779b97f4a7c15) & mask;  // or else 0 would stay 0
  value = ((value ^ (value >> shift)) * 0xbf58476d1ce4e5b9) & mask;
  value = ((value ^ (value >> shift)) * 0x94d049bb133111eb) & mask;
  return value ^ (value >> shift);
}

// Ranks to keys, while the number of keys grows. For each number of keys it is a permutation of
// them, and one more key moves at most one other rank: the new key takes the place of a random one,
// which goes to where the new rank is. So hot keys stay hot. Ranks from 2^ceil(log2 of the first
// number of keys) on stay where they are: they are cold, and their keys new.
class Scatter {
 public:
  explicit constexpr Scatter(std::uint64_t first_keys)
      : bits_(static_cast<unsigned>(std::bit_width(first_keys - 1))) {}

  // rank must be below keys, and keys no less than at first. It walks the cycle of `permute` until
  // it meets a key: less than two steps on average.
  constexpr std::uint64_t key_of(std::uint64_t rank, std::uint64_t keys) const {
    if (bits_ < 64 && (rank >> bits_) != 0) {
      return rank;
    }
    std::uint64_t key = permute(rank, bits_);
    while (key >= keys) {
      key = permute(key, bits_);
    }
    return key;
  }

 private:
  unsigned bits_;
};

}  // namespace remora::workload
