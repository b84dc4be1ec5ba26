#include "lab/crash/campaign.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/crash/pool_subject.h"

namespace remora {
namespace {

// Sanitizers slow a run down by a factor of ten or more; the seeds that they see are the first ones
// of those that the optimised build sees.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_slow = true;
constexpr std::uint64_t runs_in_quiet = 40;
constexpr std::uint64_t runs_to_notice = 10;
#else
constexpr bool is_slow = false;
constexpr std::uint64_t runs_in_quiet = 2000;
// Enough for the rarest mistake; most are noticed within the first ten.
constexpr std::uint64_t runs_to_notice = 1500;
#endif

CampaignOptions options(std::uint64_t runs) {
  CampaignOptions options;
  options.runs = runs;
  options.most_violations = 1;
  return options;
}

class PoolCrash : public testing::TestWithParam<Platform> {};

TEST_P(PoolCrash, keeps_its_promise) {
  CampaignOptions quiet = options(runs_in_quiet / 4);
  quiet.settings = {GetParam().domain, GetParam().ddio, GetParam().flush, GetParam().granularity};
  const CampaignReport report = run_campaign(PoolSubject(), quiet);
  EXPECT_EQ(report.runs, quiet.runs);
  EXPECT_GT(report.cuts, report.runs);
  EXPECT_GT(report.distinct_images, report.runs);
  ASSERT_TRUE(report.violations.empty())
      << "seed " << report.violations[0].seed << ": " << report.violations[0].explanation;
}

std::vector<Platform> platforms() {
  std::vector<Platform> list;
  for (const Domain domain : {Domain::dmp, Domain::mhp, Domain::wsp}) {
    for (const Granularity granularity : {Granularity::cache_line, Granularity::page}) {
      Platform platform;
      platform.domain = domain;
      platform.granularity = granularity;
      list.push_back(platform);
    }
  }
  return list;
}

INSTANTIATE_TEST_SUITE_P(every_domain, PoolCrash, testing::ValuesIn(platforms()),
                         [](const testing::TestParamInfo<Platform>& param) {
                           return std::string(to_string(param.param.domain)) +
                                  (param.param.granularity == Granularity::page ? "_page"
                                                                                : "_line");
                         });

class PlantedBug : public testing::TestWithParam<const Fault*> {};

TEST_P(PlantedBug, is_caught_and_replayed_by_its_seed) {
  CampaignOptions planted = options(runs_to_notice);
  planted.faults = Faults(*GetParam());
  const CampaignReport report = run_campaign(PoolSubject(), planted);
  if (is_slow && report.violations.empty()) {
    GTEST_SKIP() << "the optimised build runs enough seeds to notice this one";
  }
  ASSERT_FALSE(report.violations.empty()) << GetParam()->what << " went unnoticed";
  const CrashViolation& found = report.violations.front();
  EXPECT_FALSE(found.explanation.empty());

  CampaignOptions replay = options(1);
  replay.seed = found.seed;
  replay.faults = planted.faults;
  const CampaignReport again = run_campaign(PoolSubject(), replay);
  ASSERT_EQ(again.violations.size(), 1u);
  EXPECT_EQ(again.violations[0].explanation, found.explanation);
}

std::vector<const Fault*> pool_bugs() {
  const PoolSubject subject;
  return {subject.faults().begin(), subject.faults().end()};
}

INSTANTIATE_TEST_SUITE_P(pool, PlantedBug, testing::ValuesIn(pool_bugs()),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(PoolFaults, are_at_least_ten_with_names_of_their_own) {
  std::vector<std::string_view> names;
  for (const Fault* fault : pool_bugs()) {
    names.push_back(fault->name);
  }
  std::ranges::sort(names);
  EXPECT_GE(names.size(), 10u);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(Campaign, does_not_depend_on_the_number_of_threads) {
  CampaignOptions one = options(60);
  one.threads = 1;
  CampaignOptions many = options(60);
  many.threads = 4;
  const CampaignReport first = run_campaign(PoolSubject(), one);
  const CampaignReport second = run_campaign(PoolSubject(), many);
  EXPECT_EQ(first.cuts, second.cuts);
  EXPECT_EQ(first.images, second.images);
  EXPECT_EQ(first.distinct_images, second.distinct_images);
}

TEST(Campaign, another_seed_covers_other_images) {
  CampaignOptions first = options(10);
  CampaignOptions second = options(10);
  second.seed = 1000;
  EXPECT_NE(run_campaign(PoolSubject(), first).cuts, run_campaign(PoolSubject(), second).cuts);
}

}  // namespace
}  // namespace remora
