#include <gtest/gtest.h>

#include <algorithm>

#include "lab/crash/campaign.h"
#include "lab/subjects/files/file_subject.h"

namespace remora::lab {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_slow = true;
constexpr std::uint64_t runs_in_quiet = 4;
constexpr std::uint64_t runs_to_notice = 10;
#else
constexpr bool is_slow = false;
constexpr std::uint64_t runs_in_quiet = 24;
constexpr std::uint64_t runs_to_notice = 1500;
#endif

CampaignOptions options(std::uint64_t runs) {
  CampaignOptions options;
  options.runs = runs;
  options.most_violations = 1;
  return options;
}

struct Setting {
  Domain domain;
  Granularity granularity;
};

class FileCrash : public testing::TestWithParam<Setting> {};

TEST_P(FileCrash, keeps_its_promise) {
  CampaignOptions quiet = options(runs_in_quiet);
  quiet.settings.domain = GetParam().domain;
  quiet.settings.granularity = GetParam().granularity;
  const CampaignReport report = run_campaign(FileSubject(), quiet);
  EXPECT_EQ(report.runs, quiet.runs);
  EXPECT_GT(report.cuts, report.runs);
  EXPECT_GT(report.distinct_images, report.runs);
  ASSERT_TRUE(report.violations.empty())
      << "seed " << report.violations[0].seed << " on " << report.violations[0].platform << ": "
      << report.violations[0].rule << ": " << report.violations[0].explanation;
}

INSTANTIATE_TEST_SUITE_P(platforms, FileCrash,
                         testing::Values(Setting{Domain::dmp, Granularity::cache_line},
                                         Setting{Domain::dmp, Granularity::page},
                                         Setting{Domain::mhp, Granularity::cache_line},
                                         Setting{Domain::wsp, Granularity::cache_line}),
                         [](const testing::TestParamInfo<Setting>& param) {
                           return std::string(to_string(param.param.domain)) +
                                  (param.param.granularity == Granularity::page ? "_page"
                                                                                : "_line");
                         });

class FilePlantedBug : public testing::TestWithParam<const Fault*> {};

TEST_P(FilePlantedBug, is_caught_and_replayed_by_its_seed) {
  CampaignOptions planted = options(runs_to_notice);
  planted.faults = Faults(*GetParam());
  const CampaignReport report = run_campaign(FileSubject(), planted);
  if (is_slow && report.violations.empty()) {
    GTEST_SKIP() << "the optimised build runs enough seeds to notice this one";
  }
  ASSERT_FALSE(report.violations.empty()) << GetParam()->what << " went unnoticed";
  CampaignOptions replay = options(1);
  replay.seed = report.violations.front().seed;
  replay.faults = planted.faults;
  const CampaignReport again = run_campaign(FileSubject(), replay);
  ASSERT_EQ(again.violations.size(), 1u);
  EXPECT_EQ(again.violations[0].explanation, report.violations.front().explanation);
}

std::vector<const Fault*> file_bugs() {
  const FileSubject subject;
  return {subject.faults().begin(), subject.faults().end()};
}

INSTANTIATE_TEST_SUITE_P(files, FilePlantedBug, testing::ValuesIn(file_bugs()),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(FileMutants, every_persist_call_is_missed) {
  // Page media have open seeds (docs/files.md), which would be taken for what a mutant does.
  CampaignOptions on_lines = options(600);
  on_lines.settings.granularity = Granularity::cache_line;
  const MutantReport report = run_mutants(FileSubject(), on_lines);
  for (const CrashViolation& found : report.unmuted_violations) {
    ADD_FAILURE() << "seed " << found.seed << " on " << found.platform << ": " << found.rule << ": "
                  << found.explanation;
  }
  // Two copies and two drains of contents, and what a move copies and drains.
  EXPECT_EQ(report.mutants.size(), 6u);
  for (const Mutant& mutant : report.mutants) {
    EXPECT_TRUE(mutant.killed) << "nobody misses " << to_string(mutant.site.key);
  }
}
#endif

}  // namespace
}  // namespace remora::lab
