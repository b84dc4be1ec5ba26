// The persist calls of the engine, muted one at a time: each must be missed.
#include <gtest/gtest.h>

#include "kv/efactory/engine.h"
#include "lab/crash/campaign.h"
#include "lab/subjects/stores/store_subject.h"

namespace remora::lab {
namespace {

TEST(StoreMutants, none_survives) {
  const StoreSubject subject(kv::efactory::engine());
  CampaignOptions options;
  options.runs = 5000;
  const MutantReport report = run_mutants(subject, options);
  EXPECT_TRUE(report.unmuted_violations.empty());
  EXPECT_GT(report.mutants.size(), 8u);
  for (const Mutant& mutant : report.mutants) {
    EXPECT_TRUE(mutant.killed) << to_string(mutant.site.key) << " is muted, and nothing misses it";
  }
}

}  // namespace
}  // namespace remora::lab
