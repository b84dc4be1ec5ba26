#include "base/histogram.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace remora {

void Histogram::merge(const Histogram& other) {
  static_assert(bucket_of(~std::uint64_t{0}) == bucket_count - 1);
  static_assert(highest_in(bucket_count - 1) == ~std::uint64_t{0});
  for (std::size_t i = 0; i < bucket_count; ++i) {
    buckets_[i] += other.buckets_[i];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

Histogram Histogram::since(const Histogram& earlier) const {
  Histogram later;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    later.buckets_[i] = buckets_[i] - earlier.buckets_[i];
    if (later.buckets_[i] != 0) {
      later.min_ = std::min(later.min_, highest_in(i));
      later.max_ = highest_in(i);
    }
  }
  later.count_ = count_ - earlier.count_;
  later.sum_ = sum_ - earlier.sum_;
  return later;
}

double Histogram::mean() const {
  return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t Histogram::up_to(std::uint64_t value) const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < bucket_count && highest_in(i) <= value; ++i) {
    count += buckets_[i];
  }
  return count;
}

std::uint64_t Histogram::percentile(double p) const {
  REMORA_CHECK(p >= 0 && p <= 100, "a percentile lies between 0 and 100");
  if (count_ == 0) {
    return 0;
  }
  constexpr Wide parts_in_whole = 100'000'000;
  const auto parts = static_cast<Wide>(std::llround(p * 1e6));
  const Wide rank = std::max<Wide>((parts * count_ + parts_in_whole - 1) / parts_in_whole, 1);
  Wide seen = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    seen += buckets_[i];
    if (seen >= rank) {
      return std::min(highest_in(i), max_);
    }
  }
  return max_;
}

}  // namespace remora
