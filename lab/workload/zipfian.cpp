#include "lab/workload/zipfian.h"

#include <algorithm>

namespace remora::workload {
namespace {

constexpr std::uint64_t added_one_by_one = 1'000;
constexpr std::uint64_t extended_one_by_one = 16;

double term(std::uint64_t i, double theta) {
  return power(static_cast<double>(i), -theta);
}

// The sum of the terms from first to last, both included.
double tail(std::uint64_t first, std::uint64_t last, double theta) {
  const auto a = static_cast<double>(first);
  const auto b = static_cast<double>(last);
  const double integral = (power(b, 1 - theta) - power(a, 1 - theta)) / (1 - theta);
  const double ends = (term(first, theta) + term(last, theta)) / 2;
  const double slopes = theta / 12 * (power(a, -theta - 1) - power(b, -theta - 1));
  return integral + ends + slopes;
}

}  // namespace

double zeta(std::uint64_t items, double theta) {
  double sum = 0;
  const std::uint64_t single = std::min(items, added_one_by_one);
  for (std::uint64_t i = 1; i <= single; ++i) {
    sum += term(i, theta);
  }
  return items > single ? sum + tail(single + 1, items, theta) : sum;
}

Zipfian::Zipfian(std::uint64_t items, double theta)
    : theta_(theta), alpha_(1 / (1 - theta)), zeta_of_two_(zeta(2, theta)) {
  REMORA_CHECK(theta >= 0 && theta <= largest_theta, "theta lies between 0 and 0.999");
  REMORA_CHECK(items > 0, "there is nothing to draw from");
  items_ = items;
  zeta_ = zeta(items, theta);
  fit();
}

void Zipfian::extend(std::uint64_t items) {
  REMORA_CHECK(items > items_, "a zipfian never shrinks");
  if (items - items_ <= extended_one_by_one) {
    for (std::uint64_t i = items_ + 1; i <= items; ++i) {
      zeta_ += term(i, theta_);
    }
  } else {
    zeta_ = zeta(items, theta_);
  }
  items_ = items;
  fit();
}

// With one or two items rank_at has returned before it needs eta.
void Zipfian::fit() {
  if (items_ > 2) {
    eta_ = (1 - power(2 / static_cast<double>(items_), 1 - theta_)) / (1 - zeta_of_two_ / zeta_);
  }
}

}  // namespace remora::workload
