// The engines held to their promises, and the proof that a broken one would be noticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <span>
#include <string>
#include <vector>

#include "kv/efactory/engine.h"
#include "lab/crash/campaign.h"
#include "lab/subjects/stores/store_subject.h"

namespace remora::lab {
namespace {

// Sanitizers slow a run down by a factor of ten; the seeds that they see are the first ones of
// those that the optimised build sees.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t runs_in_quiet = 12;
constexpr std::uint64_t runs_to_notice = 12;
#else
constexpr std::uint64_t runs_in_quiet = 150;
constexpr std::uint64_t runs_to_notice = 3000;
#endif

CampaignOptions options(std::uint64_t runs) {
  CampaignOptions options;
  options.runs = runs;
  options.most_violations = 1;
  return options;
}

void expect_kept(const kv::Engine& engine, const CampaignOptions& quiet) {
  const CampaignReport report = run_campaign(StoreSubject(engine), quiet);
  EXPECT_EQ(report.runs, quiet.runs);
  EXPECT_GT(report.cuts, report.runs);
  ASSERT_TRUE(report.violations.empty())
      << engine.name() << ", seed " << report.violations[0].seed << ", "
      << report.violations[0].platform << ": " << report.violations[0].explanation;
}

class StoreCrash : public testing::TestWithParam<Platform> {};

TEST_P(StoreCrash, efactory_keeps_its_promise) {
  CampaignOptions quiet = options(runs_in_quiet);
  quiet.settings = {GetParam().domain, GetParam().ddio, GetParam().flush, GetParam().granularity};
  expect_kept(kv::efactory::engine(), quiet);
}

TEST_P(StoreCrash, efactory_keeps_its_promise_without_hybrid_reads) {
  CampaignOptions quiet = options(runs_in_quiet / 3);
  quiet.settings = {GetParam().domain, GetParam().ddio, GetParam().flush, GetParam().granularity};
  expect_kept(kv::efactory::engine_without_hybrid_reads(), quiet);
}

INSTANTIATE_TEST_SUITE_P(
    some_platforms, StoreCrash,
    testing::Values(Platform{}, Platform{.granularity = Granularity::page}, Platform{.ddio = false},
                    Platform{.ddio = false, .flush = FlushMeaning::pcie},
                    Platform{.domain = Domain::mhp}, Platform{.domain = Domain::wsp}),
    [](const testing::TestParamInfo<Platform>& param) {
      std::string name = to_string(param.param);
      std::ranges::replace_if(
          name, [](char letter) { return letter == ',' || letter == '='; }, '_');
      return name;
    });

// A row of the table of seeds in docs/engines/efactory.md.
struct Seed {
  std::string plant;
  std::uint64_t seed = 0;
  std::string setting;  // "any", "cache-line", "page" or "ddio-off"
};

std::vector<Seed> seeds_of_the_document() {
  const std::regex row(R"(\| `(efactory-[a-z-]+)` \| ([0-9]+) \| ([a-z-]+) \|)");
  std::ifstream file(REMORA_SOURCE "/docs/engines/efactory.md");
  std::vector<Seed> seeds;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_search(line, match, row)) {
      seeds.push_back({match[1], std::stoull(match[2]), match[3]});
    }
  }
  return seeds;
}

class PlantedBug : public testing::TestWithParam<const Fault*> {};

// On failure it looks for another seed, and names it for the document.
TEST_P(PlantedBug, is_caught_and_replayed_by_the_seed_in_the_document) {
  const std::vector<Seed> seeds = seeds_of_the_document();
  ASSERT_EQ(std::ranges::count(seeds, GetParam()->name, &Seed::plant), 1)
      << "docs/engines/efactory.md must have one seed for " << GetParam()->name;
  const Seed& seed = *std::ranges::find(seeds, GetParam()->name, &Seed::plant);
  CampaignOptions replay = options(1);
  replay.seed = seed.seed;
  replay.faults = Faults(*GetParam());
  if (seed.setting == "ddio-off") {
    replay.settings.ddio = false;
  } else if (seed.setting != "any") {
    replay.settings.granularity =
        seed.setting == "page" ? Granularity::page : Granularity::cache_line;
  }
  const StoreSubject subject(kv::efactory::engine());
  const CampaignReport report = run_campaign(subject, replay);
  if (report.violations.empty()) {
    CampaignOptions search = replay;
    search.seed = 1;
    search.runs = runs_to_notice;
    const CampaignReport found = run_campaign(subject, search);
    FAIL() << GetParam()->what << ": seed " << seed.seed << " does not notice it"
           << (found.violations.empty()
                   ? ", nor does another"
                   : "; seed " + std::to_string(found.violations.front().seed) + " does: run " +
                         "scripts/planted-seeds");
  }
  const CampaignReport again = run_campaign(subject, replay);
  ASSERT_EQ(again.violations.size(), 1u);
  EXPECT_EQ(again.violations[0].explanation, report.violations[0].explanation);
  // It is the bug that is found: without it the seed is quiet.
  replay.faults = Faults();
  EXPECT_TRUE(run_campaign(subject, replay).violations.empty());
}

INSTANTIATE_TEST_SUITE_P(efactory, PlantedBug, testing::ValuesIn(kv::efactory::engine().faults()),
                         [](const testing::TestParamInfo<const Fault*>& param) {
                           std::string name(param.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(PlantedBugs, are_many_and_the_document_names_no_others) {
  const std::span<const Fault* const> faults = kv::efactory::engine().faults();
  EXPECT_GE(faults.size(), 25u);
  EXPECT_EQ(seeds_of_the_document().size(), faults.size());
}

TEST(StoreCampaign, does_not_depend_on_the_number_of_threads) {
  CampaignOptions one = options(12);
  one.threads = 1;
  CampaignOptions many = options(12);
  many.threads = 4;
  const StoreSubject subject(kv::efactory::engine());
  const CampaignReport first = run_campaign(subject, one);
  const CampaignReport second = run_campaign(subject, many);
  EXPECT_EQ(first.cuts, second.cuts);
  EXPECT_EQ(first.images, second.images);
  EXPECT_EQ(first.distinct_images, second.distinct_images);
}

// Seeds that found something once.
TEST(StoreCampaign, seeds_that_found_a_bug_find_none_now) {
  const StoreSubject efactory(kv::efactory::engine());
  const StoreSubject without(kv::efactory::engine_without_hybrid_reads());
  for (const std::uint64_t seed : {29u, 145u, 263u, 426u, 16990u}) {
    CampaignOptions quiet = options(1);
    quiet.seed = seed;
    EXPECT_TRUE(run_campaign(efactory, quiet).violations.empty()) << seed;
  }
  CampaignOptions far = options(1);
  far.seed = 51382;
  far.settings = {.domain = Domain::mhp, .flush = FlushMeaning::pcie, .granularity = {}};
  EXPECT_TRUE(run_campaign(efactory, far).violations.empty());
  // Cleanings of parts that found nothing to free, after which no put was worth one.
  CampaignOptions full = options(1);
  full.seed = 903521;
  full.settings = {Domain::mhp, true, FlushMeaning::pcie, Granularity::page};
  EXPECT_TRUE(run_campaign(efactory, full).violations.empty());
  full.seed = 904652;
  full.settings = {Domain::wsp, false, FlushMeaning::pcie, Granularity::page};
  EXPECT_TRUE(run_campaign(efactory, full).violations.empty());
  // Space in pieces, of which none was large enough for the segment of the first copy.
  full.seed = 2026114356;
  full.settings = options(1).settings;
  EXPECT_TRUE(run_campaign(efactory, full).violations.empty());
  // All keys were cleared, and what came until the space was free was taken for cleaned.
  for (const std::uint64_t seed : {13902u, 15169u, 20223u, 30842u}) {
    CampaignOptions quiet = options(1);
    quiet.seed = seed;
    EXPECT_TRUE(run_campaign(efactory, quiet).violations.empty()) << seed;
  }
  for (const std::uint64_t seed : {990u, 1914u}) {
    CampaignOptions quiet = options(1);
    quiet.seed = seed;
    EXPECT_TRUE(run_campaign(without, quiet).violations.empty()) << seed;
  }
}

}  // namespace
}  // namespace remora::lab
