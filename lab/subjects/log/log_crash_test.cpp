#include <gtest/gtest.h>

#include <algorithm>

#include "lab/crash/campaign.h"
#include "lab/subjects/log/log_subject.h"

namespace remora {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t runs_in_quiet = 10;
#else
constexpr std::uint64_t runs_in_quiet = 60;
#endif
constexpr std::uint64_t runs_to_notice = 600;

CampaignOptions options(std::uint64_t runs) {
  CampaignOptions options;
  options.runs = runs;
  options.most_violations = 1;
  return options;
}

class LogCrash : public testing::TestWithParam<Granularity> {};

TEST_P(LogCrash, keeps_its_promise) {
  CampaignOptions quiet = options(runs_in_quiet);
  quiet.settings.granularity = GetParam();
  const CampaignReport report = run_campaign(LogSubject(), quiet);
  EXPECT_EQ(report.runs, quiet.runs);
  EXPECT_GT(report.cuts, report.runs);
  EXPECT_GT(report.distinct_images, report.runs);
  ASSERT_TRUE(report.violations.empty())
      << "seed " << report.violations[0].seed << " on " << report.violations[0].platform << ": "
      << report.violations[0].rule << ": " << report.violations[0].explanation;
}

INSTANTIATE_TEST_SUITE_P(media, LogCrash,
                         testing::Values(Granularity::cache_line, Granularity::page),
                         [](const testing::TestParamInfo<Granularity>& param) {
                           return param.param == Granularity::page ? "page" : "line";
                         });

class LogPlantedBug : public testing::TestWithParam<const Fault*> {};

TEST_P(LogPlantedBug, is_caught_and_replayed_by_its_seed) {
  CampaignOptions planted = options(runs_to_notice);
  planted.faults = Faults(*GetParam());
  const CampaignReport report = run_campaign(LogSubject(), planted);
  ASSERT_FALSE(report.violations.empty()) << GetParam()->what << " went unnoticed";
  CampaignOptions replay = options(1);
  replay.seed = report.violations.front().seed;
  replay.faults = planted.faults;
  const CampaignReport again = run_campaign(LogSubject(), replay);
  ASSERT_EQ(again.violations.size(), 1u);
  EXPECT_EQ(again.violations[0].explanation, report.violations.front().explanation);
}

std::vector<const Fault*> log_bugs() {
  const LogSubject subject;
  return {subject.faults().begin(), subject.faults().end()};
}

INSTANTIATE_TEST_SUITE_P(log, LogPlantedBug, testing::ValuesIn(log_bugs()),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LogMutants, every_persist_call_is_missed) {
  const MutantReport report = run_mutants(LogSubject(), options(runs_to_notice));
  EXPECT_TRUE(report.unmuted_violations.empty());
  EXPECT_GE(report.mutants.size(), 7u);
  for (const Mutant& mutant : report.mutants) {
    EXPECT_TRUE(mutant.killed) << "nobody misses " << to_string(mutant.site.key);
  }
}
#endif

}  // namespace
}  // namespace remora
