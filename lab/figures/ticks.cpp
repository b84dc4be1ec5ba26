#include "lab/figures/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace remora::figures {
namespace {

double step_of(double highest, int count) {
  const double rough = highest / std::max(count, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) {
      return factor * power;
    }
  }
  return 10 * power;
}

}  // namespace

Ticks linear_ticks(double highest, int count) {
  if (!(highest > 0)) {
    highest = 1;
  }
  const double step = step_of(highest, count);
  const int steps = static_cast<int>(std::ceil(highest / step * (1 - 1e-9)));
  Ticks ticks;
  ticks.high = step * steps;
  for (int i = 0; i <= steps; ++i) {
    ticks.ticks.push_back({step * i, short_number(step * i)});
  }
  return ticks;
}

Ticks log10_ticks(double lowest, double highest) {
  const int first = static_cast<int>(std::floor(std::log10(lowest) + 1e-9));
  const int last = std::max(static_cast<int>(std::ceil(std::log10(highest) - 1e-9)), first + 1);
  Ticks ticks;
  ticks.low = std::pow(10.0, first);
  ticks.high = std::pow(10.0, last);
  for (int power = first; power <= last; ++power) {
    for (int digit = 1; digit <= (power == last ? 1 : 9); ++digit) {
      const double value = digit * std::pow(10.0, power);
      const bool named = digit == 1 || (last - first == 1 && (digit == 2 || digit == 5));
      ticks.ticks.push_back({value, named ? short_number(value) : ""});
    }
  }
  return ticks;
}

std::string short_number(double value) {
  constexpr std::pair<double, const char*> units[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [unit, letter] : units) {
    if (std::abs(value) >= unit * (1 - 1e-9)) {
      return fmt::format("{:.4g}{}", value / unit, letter);
    }
  }
  return fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0.0 : value);
}

}  // namespace remora::figures
