#include "base/faults.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace remora {
namespace {

constexpr Fault early = {"early", "acknowledges before it persists"};
constexpr Fault twin = {"early", "acknowledges before it persists"};

TEST(Faults, plants_nothing_by_default) {
  EXPECT_FALSE(Faults().planted(early));
}

TEST(Faults, plants_exactly_the_one_it_is_given) {
  const Faults faults(early);
  EXPECT_TRUE(faults.planted(early));
  EXPECT_FALSE(faults.planted(twin)) << "two faults of one name are still two";
}

TEST(Faults, stays_planted_in_copies) {
  const Faults faults(early);
  const Faults copy = faults;
  EXPECT_TRUE(copy.planted(early));
}

TEST(Faults, does_not_take_a_fault_that_is_about_to_die) {
  EXPECT_FALSE((std::is_constructible_v<Faults, Fault>));
  EXPECT_TRUE((std::is_constructible_v<Faults, const Fault&>));
}

}  // namespace
}  // namespace remora
