#include "base/check.h"

#include <gtest/gtest.h>

#include <csignal>

namespace remora {
namespace {

TEST(Check, goes_on_when_the_condition_holds) {
  int evaluated = 0;
  REMORA_CHECK(++evaluated == 1, "counted once");
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, says_where_and_what_and_aborts) {
  const bool holds = false;
  EXPECT_EXIT(REMORA_CHECK(holds, "the sky fell"), testing::KilledBySignal(SIGABRT),
              "check_test.cpp:[0-9]+: the sky fell \\(holds\\)");
}

}  // namespace
}  // namespace remora
