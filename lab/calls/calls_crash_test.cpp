#include <gtest/gtest.h>

#include <algorithm>

#include "lab/calls/calls_run.h"
#include "lab/calls/calls_subject.h"
#include "lab/crash/campaign.h"

namespace remora::lab {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t runs_of_a_platform = 4;
#else
constexpr std::uint64_t runs_of_a_platform = 25;
#endif
constexpr std::uint64_t runs_until_noticed = 800;

const CrashSubject& subject_of(bool receiver_flushes) {
  return receiver_flushes ? w_rflush_rpc_subject() : wflush_rpc_subject();
}

CampaignOptions options_for(const Platform& platform, std::uint64_t runs) {
  CampaignOptions options;
  options.runs = runs;
  options.most_violations = 1;
  options.settings.domain = platform.domain;
  options.settings.ddio = platform.ddio;
  options.settings.flush = platform.flush;
  return options;
}

class CallsCrash : public testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(designs, CallsCrash, testing::Bool(),
                         [](const auto& flushes) { return flushes.param ? "w_rflush" : "wflush"; });

TEST_P(CallsCrash, keeps_its_promise_on_every_platform) {
  for (const Platform& platform : all_platforms()) {
    const CampaignReport report =
        run_campaign(subject_of(GetParam()), options_for(platform, runs_of_a_platform));
    EXPECT_EQ(report.runs, runs_of_a_platform);
    ASSERT_TRUE(report.violations.empty())
        << "seed " << report.violations[0].seed << " on " << report.violations[0].platform << ": "
        << report.violations[0].rule << ": " << report.violations[0].explanation;
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A path that no run takes is not proven.
TEST_P(CallsCrash, reaches_all_that_it_speaks_of) {
  CallsReached reached;
  SiteTable sites;
  CrashCount count;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CrashRun run;
    run.seed = seed;
    run.settings.flush = seed % 2 == 0 ? FlushMeaning::platform : FlushMeaning::pcie;
    CallsRun calls(run, GetParam(), sites, count);
    const std::optional<CrashViolation> violation = calls.go();
    ASSERT_FALSE(violation) << seed << ": " << violation->rule << ": " << violation->explanation;
    reached += calls.reached();
  }
  const std::pair<const char*, std::uint64_t> counts[] = {
      {"calls run", reached.server.run},
      {"run after recovery", reached.server.run_after_recovery},
      {"duplicates", reached.server.duplicates},
      {"marks", reached.server.marks},
      {"wraps", reached.server.wraps},
      {"resumed", reached.server.resumed},
      {"fenced", reached.server.fenced},
      {"cuts", reached.cuts},
      {"cuts in recovery", reached.cuts_in_recovery},
      {"kills", reached.kills},
      {"deaths", reached.deaths},
      {"rejoined", reached.rejoined},
      {"told persistent", reached.told_persistent},
      {"told by the receiver", reached.told_by_receiver},
      {"answered", reached.answered},
      {"slowed down", reached.slowed_down},
      {"ordered", reached.ordered_runs},
      {"on one host", reached.runs_on_one_host},
  };
  for (const auto& [what, times] : counts) {
    EXPECT_GT(times, 0u) << "no run came to this: " << what;
    RecordProperty(what, static_cast<int>(times));
  }
}
#endif

TEST(CallsRunReplay, the_same_seed_gives_the_same_run) {
  SiteTable sites;
  CrashCount count;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CrashRun run;
    run.seed = seed;
    CallsRun first(run, false, sites, count);
    CallsRun second(run, false, sites, count);
    EXPECT_FALSE(first.go());
    EXPECT_FALSE(second.go());
    EXPECT_EQ(first.trace_hash(), second.trace_hash());
  }
}

struct PlantedCall {
  const Fault* fault;
  bool receiver_flushes;
};

class CallsPlantedBug : public testing::TestWithParam<PlantedCall> {};

TEST_P(CallsPlantedBug, is_caught_and_replayed_by_its_seed) {
  const CrashSubject& subject = subject_of(GetParam().receiver_flushes);
  for (const FlushMeaning flush : {FlushMeaning::platform, FlushMeaning::pcie}) {
    CampaignOptions planted = options_for({.flush = flush}, runs_until_noticed);
    planted.faults = Faults(*GetParam().fault);
    const CampaignReport report = run_campaign(subject, planted);
    if (report.violations.empty()) {
      continue;
    }
    CampaignOptions replay = planted;
    replay.runs = 1;
    replay.seed = report.violations.front().seed;
    const CampaignReport again = run_campaign(subject, replay);
    ASSERT_EQ(again.violations.size(), 1u);
    EXPECT_EQ(again.violations[0].explanation, report.violations.front().explanation);
    RecordProperty("seed", static_cast<int>(replay.seed));
    return;
  }
  FAIL() << GetParam().fault->what << " went unnoticed";
}

std::vector<PlantedCall> planted_calls() {
  std::vector<PlantedCall> all;
  for (const bool receiver_flushes : {false, true}) {
    for (const Fault* fault : subject_of(receiver_flushes).faults()) {
      all.push_back({fault, receiver_flushes});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(calls, CallsPlantedBug, testing::ValuesIn(planted_calls()),
                         [](const auto& param) {
                           std::string name(param.param.fault->name);
                           std::ranges::replace(name, '-', '_');
                           return name + (param.param.receiver_flushes ? "_w_rflush" : "");
                         });

}  // namespace
}  // namespace remora::lab
