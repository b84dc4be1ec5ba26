// Harder lives, held to the promise; and the proof that their paths are reached.
#include <gtest/gtest.h>

#include <iostream>

#include "kv/efactory/engine.h"
#include "lab/subjects/stores/hard_plan.h"
#include "lab/subjects/stores/store_run.h"

namespace remora::lab {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t hard_runs = 12;
#else
constexpr std::uint64_t hard_runs = 60;
#endif

struct HardLives {
  Reached all;
  Reached with_large;
  Reached with_times;
  Reached with_narrow_tags;
  std::uint64_t shared_tags = 0;  // runs in which two keys must share one
};

void live(std::uint64_t seed, HardLives& lives) {
  SiteTable sites;
  CrashCount count;
  StoreRun run(kv::efactory::engine(), {.seed = seed, .settings = {}, .faults = {}}, sites, count);
  const std::optional<CrashViolation> violation = run.go();
  EXPECT_FALSE(violation) << "seed " << seed << ": " << violation->rule << ": "
                          << violation->explanation;
  const StorePlan& plan = run.plan();
  ASSERT_TRUE(plan.is_hard);
  lives.all += run.reached();
  lives.with_large += plan.smallest_large_bytes != 0 ? run.reached() : Reached();
  lives.with_times += plan.timed_keys != 0 ? run.reached() : Reached();
  lives.with_narrow_tags += plan.server.tag_bits != 0 ? run.reached() : Reached();
  const bool must_share = plan.server.tag_bits != 0 && plan.keys > std::uint64_t{1}
                                                                       << plan.server.tag_bits;
  lives.shared_tags += must_share ? 1u : 0u;
}

// A campaign that never comes to a path proves nothing about it.
TEST(HardLives, keep_the_promise_and_reach_what_they_are_for) {
  HardLives lives;
  for (std::uint64_t i = 1; i <= hard_runs; ++i) {
    live(i * one_in_is_hard, lives);
  }
  const Reached& all = lives.all;
  std::cout << lives.with_large.large_puts << " large puts, beside " << lives.with_large.cleanings
            << " cleanings, " << lives.with_large.cleaned_parts << " of parts, and "
            << lives.with_large.given_up << " versions given up; " << lives.with_times.timed_gets
            << " gets of keys with a time, " << lives.with_times.expired_gets << " too late, "
            << all.timed_outages << " cuts of such, " << all.expired_keys << " deleted, beside "
            << lives.with_times.cleanings << " cleanings and " << lives.with_times.growths
            << " growths; " << all.growths << " growths and " << all.shrinks
            << " shrinks of the index; " << lives.shared_tags << " runs with shared tags, with "
            << lives.with_narrow_tags.cleanings << " cleanings; " << all.by_worker
            << " versions by the worker; " << all.scans << " scans and " << all.clears
            << " clearings; " << all.kills << " kills and " << all.cuts_after_kill
            << " cuts after; " << all.cuts_in_cleaning << " cuts in cleanings; " << all.filled
            << " puts that had to find room\n";
  if (hard_runs < 60) {
    return;
  }
  EXPECT_GT(lives.with_large.large_puts, 50u);
  EXPECT_GT(lives.with_large.cleanings, 5u);
  EXPECT_GT(lives.with_large.cleaned_parts, 5u);
  EXPECT_GT(lives.with_large.given_up, 2u);
  EXPECT_GT(lives.with_times.timed_gets, 100u);
  EXPECT_GT(lives.with_times.expired_gets, 20u);
  EXPECT_GT(lives.with_times.cleanings + lives.with_times.cleaned_parts, 5u);
  EXPECT_GT(lives.with_times.growths, 1u);
  EXPECT_GT(all.shrinks, 3u);
  EXPECT_GT(all.timed_outages, 2u);
  EXPECT_GT(all.expired_keys, 2u);
  EXPECT_GT(lives.shared_tags, 2u);
  EXPECT_GT(lives.with_narrow_tags.cleanings + lives.with_narrow_tags.cleaned_parts, 10u);
  EXPECT_GT(all.by_worker, 100u);
  EXPECT_GT(all.scans, 100u);
  EXPECT_GT(all.clears, 20u);
  EXPECT_GT(all.kills, 10u);
  EXPECT_GT(all.cuts_after_kill, 3u);
  EXPECT_GT(all.cuts_in_cleaning, 30u);
  EXPECT_GT(all.filled, 1000u);
}

}  // namespace
}  // namespace remora::lab
