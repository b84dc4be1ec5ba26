#include <gtest/gtest.h>

#include "lab/calls/calls_subject.h"
#include "lab/crash/campaign.h"

namespace remora::lab {
namespace {

void expect_all_killed(const CrashSubject& subject, std::size_t sites) {
  CampaignOptions options;
  options.runs = 1'000;
  options.most_violations = 1;
  const MutantReport report = run_mutants(subject, options);
  EXPECT_TRUE(report.unmuted_violations.empty());
  EXPECT_GE(report.mutants.size(), sites);
  for (const Mutant& mutant : report.mutants) {
    EXPECT_TRUE(mutant.killed) << "nobody misses " << to_string(mutant.site.key);
  }
}

TEST(CallsMutants, every_persist_call_of_wflush_is_missed) {
  expect_all_killed(wflush_rpc_subject(), 5);
}

}  // namespace
}  // namespace remora::lab
