#include <gtest/gtest.h>

#include "tests/corruption/campaign.h"

namespace remora::corruption {
namespace {

TEST(Corruption, leaves_pools_alone_that_are_sound) {
  for (const Granularity granularity : {Granularity::cache_line, Granularity::page}) {
    for (const Ending ending : {Ending::clean_stop, Ending::kill, Ending::power_cut}) {
      BaseImage image = make_base_image(ending, granularity, 1);
      const Status truth = settle_truth(image);
      EXPECT_TRUE(truth.ok()) << truth.message();
      const Verdict verdict = judge(image, dissect(image.bytes), nullptr);
      EXPECT_EQ(verdict.outcome, Outcome::harmless) << image.name << ": " << verdict.detail;
    }
  }
}

TEST(Corruption, is_never_silent_before_the_marks) {
  const Tally tally = run_campaign({.count = 200, .seed = 1}, [](const Case&) {});
  EXPECT_TRUE(tally.passed()) << as_table(tally);
}

}  // namespace
}  // namespace remora::corruption
