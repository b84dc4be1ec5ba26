// Histogram: how often each value (a latency, a size) was seen, in a fixed amount of memory and
// with a bounded error, whatever the values are.
//
// Buckets are log-linear: values below 128 have a bucket each; above, every power of two is cut
// into 64 equal buckets. A bucket's highest value is thus less than 1/64 above any other in it.
//
// Threads: one at a time; give each thread its own and merge them. Nothing here allocates, blocks
// or fails. An object takes about 30 KiB: keep it off small stacks.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace remora {

class Histogram {
 public:
  void record(std::uint64_t value, std::uint64_t times = 1) {
    if (times == 0) {
      return;
    }
    buckets_[bucket_of(value)] += times;
    count_ += times;
    sum_ += static_cast<Wide>(value) * times;
    min_ = value < min_ ? value : min_;
    max_ = value > max_ ? value : max_;
  }

  // Adds all that the other has seen, as if it had been recorded here.
  void merge(const Histogram& other);

  // What was recorded here since `earlier` was a copy of this. Its min() and max() are the highest
  // values of their buckets.
  Histogram since(const Histogram& earlier) const;

  void clear() { *this = Histogram(); }

  std::uint64_t count() const { return count_; }

  // Exact. All are 0 when nothing was recorded.
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  double mean() const;

  // The value that p percent of what was recorded do not exceed, by nearest rank: the k-th smallest
  // with k = ceil(p / 100 * count), but at least the first. Reported is the highest value of the
  // bucket that holds it, or max() where that is lower: never below the true value, and above it by
  // less than 1/64. So percentile(100) is max(). 0 when nothing was recorded.
  //
  // p is in [0, 100] and is taken to a millionth of a percent, so that 99.9 of 1000 is rank 999 and
  // not, by a rounding of the double, 1000.
  std::uint64_t percentile(double p) const;

  // How many values lie in buckets of which none is above this one: exact for one less than a power
  // of two.
  std::uint64_t up_to(std::uint64_t value) const;

 private:
  __extension__ using Wide = unsigned __int128;

  static constexpr unsigned fine_bits = 6;
  static constexpr std::size_t fine_buckets = std::size_t{1} << fine_bits;
  static constexpr std::size_t bucket_count = (64 - fine_bits + 1) * fine_buckets;

  // How many low bits the buckets around `value` ignore.
  static constexpr unsigned ignored_bits(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    return width <= fine_bits + 1 ? 0 : width - (fine_bits + 1);
  }
  static constexpr std::size_t bucket_of(std::uint64_t value) {
    const unsigned ignored = ignored_bits(value);
    return ignored * fine_buckets + static_cast<std::size_t>(value >> ignored);
  }
  static constexpr std::uint64_t highest_in(std::size_t bucket) {
    if (bucket < 2 * fine_buckets) {
      return bucket;
    }
    const std::size_t ignored = bucket / fine_buckets - 1;
    const std::uint64_t top = bucket - ignored * fine_buckets;
    return (top << ignored) + ((std::uint64_t{1} << ignored) - 1);
  }

  std::array<std::uint64_t, bucket_count> buckets_ = {};
  std::uint64_t count_ = 0;
  Wide sum_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
};

}  // namespace remora
