#include "lab/workload/power.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/random.h"

namespace remora::workload {
namespace {

TEST(Power, agrees_with_the_c_library_to_twelve_digits) {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const double base = std::ldexp(1 + random.unit(), static_cast<int>(random.below(80)) - 40);
    const double exponent = (random.unit() - 0.5) * 4;
    const double right = std::pow(base, exponent);
    ASSERT_NEAR(power(base, exponent), right, right * 1e-12) << base << " ^ " << exponent;
  }
}

// What a zipfian asks: a number a little below 1, to the hundredth.
TEST(Power, keeps_ten_digits_with_large_exponents) {
  Random random(2);
  for (int i = 0; i < 100'000; ++i) {
    const double base = 0.7 + 0.3 * random.unit();
    const double right = std::pow(base, 100);
    ASSERT_NEAR(power(base, 100), right, right * 1e-10) << base;
  }
}

TEST(Power, is_exact_where_it_is_easy) {
  EXPECT_DOUBLE_EQ(power(1, 100), 1);
  EXPECT_DOUBLE_EQ(power(2, 0), 1);
  EXPECT_NEAR(power(2, 10), 1024, 1e-10);
  EXPECT_NEAR(power(2, -1), 0.5, 1e-13);
}

TEST(Power, is_zero_when_too_small) {
  EXPECT_EQ(power(0.5, 1e5), 0);
  EXPECT_EQ(power(0.5, 1'060), 0);
  EXPECT_GT(power(0.5, 1'020), 0);
}

// Seeds are replayed on other machines: these bits may never change.
TEST(Power, gives_the_same_bits_for_ever) {
  EXPECT_EQ(std::bit_cast<std::uint64_t>(power(3, -0.99)), 0x3fd591a9ba622d6fu);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(power(0.87, 100)), 0x3eae09cd22dc34edu);
}

}  // namespace
}  // namespace remora::workload
