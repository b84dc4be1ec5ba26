#include "lab/figures/compare.h"

#include <gtest/gtest.h>

#include <vector>

namespace remora::figures {
namespace {

Claim claim_of(ClaimKind kind, Better better, const char* metric = "throughput_ratio") {
  Claim claim;
  claim.kind = kind;
  claim.better = kind == ClaimKind::match ? std::nullopt : std::optional(better);
  claim.metric = metric;
  return claim;
}

// At the best end, by one number.
Finding at_best(const Claim& claim, double paper, double ours) {
  return compare(claim, End::best, paper, {ours, ours, ours, 1});
}

TEST(Compare, effects_and_not_ratios) {
  const Claim claim = claim_of(ClaimKind::point, Better::higher);
  EXPECT_EQ(at_best(claim, 1.2, 1.2), Finding::agrees);
  EXPECT_EQ(at_best(claim, 1.2, 1.15), Finding::agrees);
  EXPECT_EQ(at_best(claim, 1.2, 1.14), Finding::differs);
  EXPECT_EQ(at_best(claim, 1.2, 1.25), Finding::agrees);
  EXPECT_EQ(at_best(claim, 1.2, 1.26), Finding::better);
  EXPECT_EQ(at_best(claim, 1.2, 1.0), Finding::differs) << "no effect is not the other sign";
  EXPECT_EQ(at_best(claim, 1.2, 0.98), Finding::contradicts);
}

TEST(Compare, in_the_sense_of_the_claim) {
  const Claim claim = claim_of(ClaimKind::point, Better::lower, "latency_ratio");
  EXPECT_EQ(at_best(claim, 0.6, 0.7), Finding::agrees);
  EXPECT_EQ(at_best(claim, 0.6, 0.71), Finding::differs);
  EXPECT_EQ(at_best(claim, 0.6, 0.49), Finding::better);
  EXPECT_EQ(at_best(claim, 0.6, 1.1), Finding::contradicts);
}

// A rival that is a little ahead, as published, may be ahead in ours; we being ahead says more.
TEST(Compare, a_loss_that_was_published) {
  const Claim claim = claim_of(ClaimKind::point, Better::higher);
  EXPECT_EQ(at_best(claim, 0.98, 0.98), Finding::agrees);
  EXPECT_EQ(at_best(claim, 0.98, 0.96), Finding::differs);
  EXPECT_EQ(at_best(claim, 0.98, 1.002), Finding::better);
  EXPECT_EQ(at_best(claim, 0.98, 1.05), Finding::contradicts);
}

TEST(Compare, what_is_none_by_the_rounding_of_papers_is_none) {
  const Claim claim = claim_of(ClaimKind::point, Better::higher);
  EXPECT_EQ(at_best(claim, 1.0, 1.004), Finding::agrees);
  EXPECT_EQ(at_best(claim, 1.0, 0.99), Finding::differs);
  EXPECT_EQ(at_best(claim, 1.0, 1.01), Finding::better);
}

TEST(Compare, a_rival_that_is_better_than_published_differs) {
  Claim claim = claim_of(ClaimKind::point, Better::higher);
  claim.is_ours = false;
  EXPECT_EQ(at_best(claim, 1.2, 1.26), Finding::differs);
}

TEST(Compare, shares_by_themselves) {
  const Claim claim = claim_of(ClaimKind::point, Better::lower, "share_of_latency");
  EXPECT_EQ(at_best(claim, 0.45, 0.55), Finding::agrees);
  EXPECT_EQ(at_best(claim, 0.45, 0.58), Finding::differs);
}

TEST(Compare, a_match_from_both_sides) {
  const Claim claim = claim_of(ClaimKind::match, Better::higher);
  EXPECT_EQ(at_best(claim, 2.0, 2.4), Finding::agrees);
  EXPECT_EQ(at_best(claim, 2.0, 1.6), Finding::agrees);
  EXPECT_EQ(at_best(claim, 2.0, 2.41), Finding::differs);
  EXPECT_EQ(at_best(claim, 2.0, 1.59), Finding::differs);
}

TEST(Compare, the_worst_of_an_upto_may_be_better) {
  const Claim claim = claim_of(ClaimKind::upto, Better::higher);
  EXPECT_EQ(compare(claim, End::worst, 1.0, {1.3, 1.3, 1.3, 1}), Finding::agrees);
  EXPECT_EQ(compare(claim, End::worst, 1.0, {0.98, 0.98, 0.98, 1}), Finding::differs);
}

TEST(Compare, is_too_close_where_the_interval_crosses_a_bound) {
  const Claim claim = claim_of(ClaimKind::point, Better::higher);
  EXPECT_EQ(compare(claim, End::best, 1.2, {1.14, 1.1, 1.18, 5}), Finding::too_close);
  EXPECT_EQ(compare(claim, End::best, 1.2, {1.12, 1.1, 1.14, 5}), Finding::differs);
  EXPECT_EQ(compare(claim, End::best, 1.2, {1.01, 0.98, 1.04, 5}), Finding::too_close);
}

TEST(Compare, agrees_where_a_narrow_interval_holds_the_published_number) {
  const Claim claim = claim_of(ClaimKind::point, Better::higher);
  EXPECT_EQ(compare(claim, End::best, 1.02, {1.025, 1.019, 1.028, 5}), Finding::agrees);
  EXPECT_EQ(compare(claim, End::best, 1.02, {1.03, 1.0, 1.06, 5}), Finding::too_close) << "wide";
}

TEST(Interval, is_students) {
  const std::vector<double> seeds = {1.0, 1.1, 0.9, 1.05, 0.95};
  const Interval interval = interval_of(1.0, seeds);
  EXPECT_EQ(interval.seeds, 5u);
  EXPECT_NEAR(interval.high - 1.0, 2.776 * 0.0790569 / 2.2360680, 1e-4);
  EXPECT_NEAR(1.0 - interval.low, interval.high - 1.0, 1e-12);
  EXPECT_EQ(interval_of(2.0, {}), (Interval{2, 2, 2, 1}));
}

}  // namespace
}  // namespace remora::figures
