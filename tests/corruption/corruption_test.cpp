#include <gtest/gtest.h>

#include "kv/rivals/erda/faults.h"
#include "kv/rivals/forca/faults.h"
#include "tests/corruption/campaign.h"
#include "tests/corruption/rivals.h"

namespace remora::corruption {
namespace {

// Under a sanitizer each takes ten times as long, and what it would notice comes with the first.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t places = 60;
constexpr std::uint64_t places_of_rival = 20;
#else
constexpr std::uint64_t places = 200;
constexpr std::uint64_t places_of_rival = 100;
#endif

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
  const Tally tally = run_campaign({.count = places, .seed = 1}, [](const Case&) {});
  EXPECT_TRUE(tally.passed()) << as_table(tally);
}

TEST(Corruption, never_has_a_rival_hand_out_what_its_checks_refuse) {
  const RivalTally tally =
      run_rivals({.count = places_of_rival, .seed = 1}, [](const RivalCase&) {});
  EXPECT_TRUE(tally.passed()) << as_table(tally);
  EXPECT_EQ(tally.by_rival.size(), rivals().size());
}

TEST(Corruption, has_a_rival_found_out_that_skips_its_checks) {
  for (const Fault* fault :
       {&kv::erda::faults::get_skips_checksum, &kv::forca::faults::get_skips_checksum}) {
    const RivalTally tally = run_rivals(
        {.count = 100, .seed = 1}, [](const RivalCase&) {}, Faults(*fault));
    EXPECT_FALSE(tally.passed()) << fault->name;
  }
}

}  // namespace
}  // namespace remora::corruption
