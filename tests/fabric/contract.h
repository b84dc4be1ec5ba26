// The frame of a contract test: SENTENCE(O1, outcome) { … } runs on every world, with every seed of
// it. The name of the test begins with the number of the sentence. A sentence that cannot be tested
// on a wire is reported as skipped, with the reason.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/fabric/pair.h"
#include "tests/fabric/world.h"

namespace remora::fabric::contract {

class Contract : public testing::TestWithParam<WorldKind> {
 protected:
  // The body, in a new world.
  virtual void check(World& world) = 0;
  // Called when all seeds have run.
  virtual void check_all() {}

  void run(const std::string& sentence) {
    const WorldKind& kind = GetParam();
    if (!kind.absent.empty()) {
      GTEST_SKIP() << "there is no " << kind.name << " on this machine: " << kind.absent;
    }
    if (const auto reason = kind.not_here.find(sentence); reason != kind.not_here.end()) {
      GTEST_SKIP() << sentence << " cannot be tested on " << kind.name << ": " << reason->second;
    }
    const std::uint64_t seeds = long_run() ? kind.long_seeds : kind.seeds;
    if (seeds == 0) {
      GTEST_SKIP() << kind.name << " depends on no seed: it has no long run";
    }
    for (std::uint64_t seed = 1; seed <= seeds && !HasFailure(); ++seed) {
      SCOPED_TRACE(kind.name + ", seed " + std::to_string(seed));
      const std::unique_ptr<World> world = kind.make(seed);
      check(*world);
    }
    check_all();
  }
};

}  // namespace remora::fabric::contract

#define SENTENCE(number, outcome)                                                         \
  class number##_##outcome : public Contract {                                            \
    void check(World& world) override;                                                    \
  };                                                                                      \
  TEST_P(number##_##outcome, holds) {                                                     \
    run(#number);                                                                         \
  }                                                                                       \
  INSTANTIATE_TEST_SUITE_P(Contract, number##_##outcome, testing::ValuesIn(all_worlds()), \
                           [](const auto& param) { return param.param.name; });           \
  void number##_##outcome::check([[maybe_unused]] World& world)
