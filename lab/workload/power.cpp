#include "lab/workload/power.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace remora::workload {
namespace {

constexpr unsigned mantissa_bits = 52;
constexpr std::int64_t exponent_bias = 1023;
constexpr unsigned table_bits = 7;
constexpr std::size_t table_size = std::size_t{1} << table_bits;
constexpr double ln_2 = 0.693147180559945309417;

// The logarithm of a number near 1, by the series of the inverse hyperbolic tangent.
constexpr double slow_log(double value) {
  const double ratio = (value - 1) / (value + 1);
  double sum = 0;
  double term = ratio;
  for (int k = 1; k < 80; k += 2) {
    sum += term / k;
    term *= ratio * ratio;
  }
  return 2 * sum;
}

// e to the power of a small number, by its series.
constexpr double slow_exp(double value) {
  double sum = 1;
  double term = 1;
  for (int k = 1; k < 30; ++k) {
    term *= value / k;
    sum += term;
  }
  return sum;
}

// For the i-th of equal slices of [1, 2): one over its middle, and the logarithm of that middle.
struct Slice {
  double inverse;
  double log;
};

constexpr std::array<Slice, table_size> make_slices() {
  std::array<Slice, table_size> slices = {};
  for (std::size_t i = 0; i < table_size; ++i) {
    const double inverse = 1 / (1 + (static_cast<double>(i) + 0.5) / table_size);
    slices[i] = {inverse, -slow_log(inverse)};
  }
  return slices;
}

constexpr std::array<double, table_size> make_roots() {
  std::array<double, table_size> roots = {};
  for (std::size_t i = 0; i < table_size; ++i) {
    roots[i] = slow_exp(ln_2 * static_cast<double>(i) / table_size);
  }
  return roots;
}

constexpr auto slices = make_slices();
constexpr auto roots = make_roots();  // the i-th is 2^(i / table_size)

double natural_log(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<std::int64_t>(bits >> mantissa_bits) - exponent_bias;
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << mantissa_bits) - 1);
  const Slice& slice = slices[mantissa >> (mantissa_bits - table_bits)];
  const double in_one_to_two = std::bit_cast<double>(mantissa | std::bit_cast<std::uint64_t>(1.0));
  const double r = in_one_to_two * slice.inverse - 1;  // at most 1/256 either way
  const double r2 = r * r;
  const double low = r - r2 * (1.0 / 2 - r * (1.0 / 3));
  const double high = -1.0 / 4 + r * (1.0 / 5) - r2 * (1.0 / 6);
  return (static_cast<double>(exponent) * ln_2 + slice.log) + (low + r2 * r2 * high);
}

double exponential(double value) {
  const double steps = value * (table_size / ln_2);
  const auto nearest = static_cast<std::int64_t>(steps + (steps < 0 ? -0.5 : 0.5));
  const std::int64_t exponent = nearest >> table_bits;
  if (exponent <= -exponent_bias) {
    return 0;
  }
  REMORA_CHECK(exponent <= exponent_bias, "the power is too large for a double");
  const double r = value - static_cast<double>(nearest) * (ln_2 / table_size);
  const double r2 = r * r;
  const double series = r + r2 * (1.0 / 2 + r * (1.0 / 6) + r2 * (1.0 / 24 + r * (1.0 / 120)));
  const double root = roots[static_cast<std::size_t>(nearest) % table_size];
  const double scale =
      std::bit_cast<double>(static_cast<std::uint64_t>(exponent + exponent_bias) << mantissa_bits);
  return scale * (root + root * series);
}

}  // namespace

double power(double base, double exponent) {
  return exponential(exponent * natural_log(base));
}

}  // namespace remora::workload
