// The harness itself: that a run is long and varied enough to mean something, and that its seed is
// all that it follows from.
#include "lab/subjects/stores/store_run.h"

#include <gtest/gtest.h>

#include <set>

#include "kv/efactory/engine.h"
#include "lab/check/promise.h"

namespace remora::lab {
namespace {

struct Seen {
  std::uint64_t trace_hash = 0;
  std::size_t operations = 0;
  std::size_t cuts = 0;
  std::uint64_t images = 0;
  std::uint64_t distinct_images = 0;

  bool operator==(const Seen&) const = default;
};

Seen run(std::uint64_t seed) {
  SiteTable sites;
  CrashCount count;
  StoreRun run(kv::efactory::engine(), {.seed = seed, .settings = {}, .faults = {}}, sites, count);
  const std::optional<CrashViolation> violation = run.go();
  EXPECT_FALSE(violation) << "seed " << seed << ": " << violation->explanation;
  const History& history = run.witness().history();
  return {run.trace_hash(), history.operations().size(), history.cuts().size(), count.images,
          count.distinct.count()};
}

TEST(StoreRun, follows_from_its_seed_alone) {
  std::vector<Seen> first;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    first.push_back(run(seed));
  }
  for (std::uint64_t seed = 10; seed >= 1; --seed) {
    EXPECT_EQ(run(seed), first[seed - 1]) << "seed " << seed;
  }
}

TEST(StoreRun, of_another_seed_is_another) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    hashes.insert(run(seed).trace_hash);
  }
  EXPECT_EQ(hashes.size(), 10u);
}

TEST(StoreRun, asks_cuts_and_recovers_enough_to_mean_something) {
  Seen all;
  constexpr std::uint64_t runs = 30;
  for (std::uint64_t seed = 100; seed < 100 + runs; ++seed) {
    const Seen seen = run(seed);
    all.operations += seen.operations;
    all.cuts += seen.cuts;
    all.images += seen.images;
    all.distinct_images += seen.distinct_images;
  }
  EXPECT_GT(all.operations, 60 * runs);
  EXPECT_GT(all.cuts, runs / 3);
  EXPECT_GT(all.images, 3 * runs);
  EXPECT_GT(all.distinct_images, 2 * runs);
}

// What the plans of many seeds reach: every kind of hard life that the comment in plan.h names.
TEST(StorePlan, reaches_every_corner) {
  std::uint64_t many_keys = 0;
  std::uint64_t impatient = 0;
  std::uint64_t pages = 0;
  std::uint64_t whole_networks = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const StorePlan plan =
        draw_plan(kv::efactory::engine(), {.seed = seed, .settings = {}, .faults = {}}, random);
    many_keys += plan.keys > 16 ? 1 : 0;
    impatient += plan.server.put_timeout_ns < 100'000 ? 1 : 0;
    pages += plan.platform.granularity == Granularity::page ? 1 : 0;
    whole_networks += plan.trouble_every_ns == 0 ? 1 : 0;
  }
  for (const std::uint64_t count : {many_keys, impatient, pages, whole_networks}) {
    EXPECT_GT(count, 10u);
    EXPECT_LT(count, 190u);
  }
}

TEST(StorePlan, holds_to_the_platform_that_is_asked_for) {
  Random random(1);
  const StorePlan plan =
      draw_plan(kv::efactory::engine(),
                {.seed = 1,
                 .settings = {Domain::wsp, false, FlushMeaning::pcie, Granularity::page},
                 .faults = {}},
                random);
  EXPECT_EQ(to_string(plan.platform), "wsp,ddio=off,flush=pcie,media=page");
}

}  // namespace
}  // namespace remora::lab
