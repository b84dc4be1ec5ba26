// Keys with a time, held to their promise by power cuts; and mistakes with times, which are
// noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "kv/efactory/engine.h"
#include "kv/efactory/faults.h"
#include "lab/crash/campaign.h"
#include "lab/subjects/stores/expiry_run.h"
#include "lab/subjects/stores/expiry_subject.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t usual_seeds = 60;

CrashRun run_of(std::uint64_t seed) {
  return {.seed = seed, .settings = {.ddio = seed % 4 < 2, .granularity = {}}, .faults = {}};
}

TEST(ExpiryCrash, expired_keys_stay_away_and_times_are_kept) {
  std::uint64_t cuts = 0;
  std::uint64_t kept_times = 0;
  std::uint64_t stayed_away = 0;
  std::uint64_t set_back = 0;
  std::uint64_t cleanings = 0;
  std::uint64_t forgotten = 0;
  std::uint64_t clears = 0;
  for (std::uint64_t seed = 1; seed <= usual_seeds; ++seed) {
    SiteTable sites;
    ExpiryRun run(kv::efactory::engine(), expiry_platform(run_of(seed)), Faults(), seed, sites);
    const std::optional<std::string> violation = run.go();
    ASSERT_FALSE(violation) << "seed " << seed << ": " << *violation;
    cuts += run.cuts();
    kept_times += run.kept_times();
    stayed_away += run.stayed_away();
    set_back += run.set_back();
    cleanings += run.cleanings();
    forgotten += run.forgotten();
    clears += run.clears();
  }
  EXPECT_GT(cuts, usual_seeds / 2);
  EXPECT_GT(kept_times, usual_seeds / 2);
  EXPECT_GT(stayed_away, usual_seeds / 4);
  EXPECT_GT(set_back, usual_seeds / 8);
  EXPECT_GT(cleanings, usual_seeds);
  EXPECT_GT(forgotten, usual_seeds);
  EXPECT_GT(clears, usual_seeds / 2);
  std::cout << cuts << " cuts; " << kept_times << " times kept, " << stayed_away
            << " expired keys stayed away, " << set_back << " by an older clock; " << cleanings
            << " cleanings, " << forgotten << " keys forgotten\n";
}

class ExpiryMistakes : public testing::TestWithParam<const Fault*> {};

INSTANTIATE_TEST_SUITE_P(faults, ExpiryMistakes, testing::ValuesIn(kv::efactory::faults::of_times),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ExpiryMistakes, are_noticed) {
  const std::unique_ptr<CrashWorker> worker = ExpirySubject().worker();
  std::optional<CrashViolation> violation;
  for (std::uint64_t seed = 1; seed <= 12 * usual_seeds && !violation; ++seed) {
    CrashRun run = run_of(seed);
    run.faults = Faults(*GetParam());
    CrashCount count;
    violation = worker->run(run, count);
  }
  ASSERT_TRUE(violation) << GetParam()->name;
  EXPECT_EQ(violation->rule, "keeps_times");
}

TEST(ExpiryCampaign, counts_cuts_and_images) {
  CampaignOptions options;
  options.runs = 12;
  const CampaignReport report = run_campaign(ExpirySubject(), options);
  EXPECT_TRUE(report.violations.empty());
  EXPECT_GT(report.cuts, 6u);
  EXPECT_EQ(report.images, report.cuts);
  EXPECT_GT(report.distinct_images, report.cuts / 2);
}

}  // namespace
}  // namespace remora::lab
