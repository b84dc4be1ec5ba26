// Zipfian: ranks drawn so that rank r, from 0 on, has a share near (r + 1)^-theta / zeta.
//
// The algorithm of Gray et al. (Quickly Generating Billion-Record Synthetic Databases, SIGMOD
// 1994), as YCSB has it: the two first ranks have exactly their share, the others follow a curve
// that is inverted in one step, and any number of first ranks have together what they should, to
// 0.02 (at theta 0.99 with a hundred items; less elsewhere). The set of items may grow; the sum
// zeta is then extended, not made anew.
//
// Threads: one at a time may call grow; draw changes nothing here. Nothing allocates or blocks.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "lab/workload/power.h"

namespace remora::workload {

inline constexpr double default_theta = 0.99;
inline constexpr double largest_theta = 0.999;  // the algorithm has none at 1

// The sum of i^-theta for i from 1 to items. The first terms are added one by one; the rest is
// an integral with its corrections (Euler and Maclaurin), exact to about 14 digits: so this takes
// some microseconds whatever the number of items is.
double zeta(std::uint64_t items, double theta);

class Zipfian {
 public:
  // items is at least 1; theta is in [0, largest_theta], and 0 is uniform.
  Zipfian(std::uint64_t items, double theta);

  // A rank below items(); 0 is the most popular.
  std::uint64_t draw(Random& random) const { return rank_at(random.unit()); }

  // The rank at which a uniform number of [0, 1) falls: never falls as `uniform` rises.
  std::uint64_t rank_at(double uniform) const {
    const double at = uniform * zeta_;
    if (at < 1) {
      return 0;
    }
    if (at < zeta_of_two_) {
      return items_ > 1 ? 1 : 0;
    }
    const auto rank = static_cast<std::uint64_t>(static_cast<double>(items_) *
                                                 power(eta_ * (uniform - 1) + 1, alpha_));
    return rank < items_ ? rank : items_ - 1;
  }

  // More items; the new ones are the least popular. Fewer than before is a bug.
  void grow(std::uint64_t items) {
    if (items != items_) {
      extend(items);
    }
  }

  std::uint64_t items() const { return items_; }
  double theta() const { return theta_; }

 private:
  void extend(std::uint64_t items);
  void fit();

  double theta_;
  double alpha_;
  double zeta_of_two_;
  double zeta_ = 0;
  double eta_ = 0;
  std::uint64_t items_ = 0;
};

}  // namespace remora::workload
