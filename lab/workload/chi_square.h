// For tests of distributions: how far counts are from what a theory expects of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace remora::workload {

// Pearson's statistic, in standard deviations from what chance alone gives: it has mean k and
// variance 2k for k degrees of freedom. Chance alone passes 5 about once in a hundred thousand
// times. Shares that expect fewer than ten are counted together.
inline double excess_of(const std::vector<std::uint64_t>& counts,
                        const std::vector<double>& shares) {
  std::uint64_t draws = 0;
  for (const std::uint64_t count : counts) {
    draws += count;
  }
  double statistic = 0;
  double cells = 0;
  double expected = 0;
  double seen = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    expected += shares[i] * static_cast<double>(draws);
    seen += static_cast<double>(counts[i]);
    if (expected >= 10) {
      statistic += (seen - expected) * (seen - expected) / expected;
      cells += 1;
      expected = 0;
      seen = 0;
    }
  }
  const double freedom = cells - 1;
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

}  // namespace remora::workload
