#include "lab/figures/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "lab/figures/figures_testing.h"

namespace remora::figures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Claim claim_of(ClaimKind kind, Better better, double worst, double best) {
  Claim claim;
  claim.id = "c";
  claim.kind = kind;
  claim.metric = "throughput_ratio";
  if (kind != ClaimKind::match) {
    claim.better = better;
  }
  claim.worst = worst;
  claim.best = best;
  return claim;
}

Outcome outcome(const Claim& claim, const std::vector<double>& values) {
  std::vector<Number> numbers;
  for (const double value : values) {
    numbers.push_back({.value = value,
                       .x = static_cast<double>(numbers.size()),
                       .where = "point " + std::to_string(numbers.size())});
  }
  return judge_numbers(claim, numbers);
}

Finding finding(const Claim& claim, const std::vector<double>& values) {
  return outcome(claim, values).finding;
}

TEST(Point, of_a_sweep_is_its_geometric_mean) {
  const Outcome mean = outcome(claim_of(ClaimKind::point, Better::higher, 2, 2), {1, 2, 4});
  EXPECT_EQ(mean.finding, Finding::agrees);
  EXPECT_DOUBLE_EQ(*mean.best, 2);
  EXPECT_EQ(*mean.worst, *mean.best);
  EXPECT_THAT(mean.reason, HasSubstr("geometric mean of 3 points, from 1"));
}

TEST(Point, of_several_seeds_has_an_interval) {
  const std::vector<Number> numbers = {{.value = 2, .by_seed = {1.9, 2, 2.1, 2, 2}}};
  const Outcome one = judge_numbers(claim_of(ClaimKind::point, Better::higher, 2, 2), numbers);
  EXPECT_EQ(one.best_interval->seeds, 5u);
  EXPECT_LT(one.best_interval->low, 2);
  EXPECT_THAT(one.reason, Not(HasSubstr("five make an interval")));
  const Outcome alone = outcome(claim_of(ClaimKind::point, Better::higher, 2, 2), {2});
  EXPECT_THAT(alone.reason, HasSubstr("1 seed, and five make an interval"));
}

TEST(Range, is_judged_at_both_ends_and_the_one_that_says_less_counts) {
  const Claim higher = claim_of(ClaimKind::range, Better::higher, 1.2, 3.0);
  EXPECT_EQ(finding(higher, {1.2, 2.0, 3.0}), Finding::agrees);
  EXPECT_EQ(finding(higher, {1.15, 3.4}), Finding::agrees);
  EXPECT_EQ(finding(higher, {1.1, 3.0}), Finding::differs);
  EXPECT_EQ(finding(higher, {0.9, 3.0}), Finding::contradicts);
  EXPECT_EQ(finding(higher, {1.2, 2.4}), Finding::differs);
  EXPECT_EQ(finding(higher, {1.2, 12.0}), Finding::better);
  EXPECT_EQ(finding(higher, {1.1, 12.0}), Finding::differs);
  const Claim lower = claim_of(ClaimKind::range, Better::lower, 0.9, 0.5);
  EXPECT_EQ(finding(lower, {0.9, 0.5}), Finding::agrees);
  EXPECT_EQ(finding(lower, {1.1, 0.5}), Finding::contradicts);
}

TEST(Upto, has_no_point_worse_than_worst) {
  const Claim higher = claim_of(ClaimKind::upto, Better::higher, 1.0, 2.0);
  EXPECT_EQ(finding(higher, {1.0, 1.8}), Finding::agrees);
  EXPECT_EQ(finding(higher, {1.5, 1.8}), Finding::agrees);
  EXPECT_EQ(finding(higher, {0.98, 2.0}), Finding::differs);
  EXPECT_EQ(finding(higher, {1.0, 1.5}), Finding::differs);
}

TEST(Match, is_judged_from_both_sides) {
  const Claim match = claim_of(ClaimKind::match, Better::higher, 2.0, 2.0);
  EXPECT_EQ(finding(match, {2.3}), Finding::agrees);
  EXPECT_EQ(finding(match, {12.0}), Finding::differs);
}

TEST(Verdict, has_three_words) {
  EXPECT_EQ(verdict_of(Finding::agrees), Verdict::within);
  EXPECT_EQ(verdict_of(Finding::better), Verdict::beyond);
  for (const Finding other :
       {Finding::differs, Finding::contradicts, Finding::too_close, Finding::spent}) {
    EXPECT_EQ(verdict_of(other), Verdict::short_of);
  }
}

TEST(Differs, says_where_and_by_how_much) {
  const Outcome worst =
      outcome(claim_of(ClaimKind::range, Better::higher, 2.0, 3.0), {2.0, 1.5, 3.0});
  EXPECT_THAT(worst.reason, HasSubstr("at worst 1.5 for 2 (point 1), 0.5 of the effect"));
}

TEST(Judge, has_no_verdict_without_numbers) {
  for (const ClaimKind kind : {ClaimKind::point, ClaimKind::range, ClaimKind::upto}) {
    const Outcome none = outcome(claim_of(kind, Better::higher, 1, 1), {});
    EXPECT_EQ(none.finding, Finding::no_data);
    EXPECT_FALSE(none.best);
  }
}

class JudgeClaim : public ::testing::Test {
 protected:
  Judgement judged(const std::string& id, const Comment& comment = {}) {
    const Claim& claim = *library.claim(id);
    return judge_claim(claim, library.figure(claim.paper, claim.figure), observations, comment);
  }

  // eFactory `ratio` times as fast as all others.
  void fill_9d(Origin origin, double ratio) {
    fill(observations, figure_of(library, "9d"), origin, [&](const Point& point) {
      return point.series == "efactory-published" ? ratio * 1e6 : 1e6;
    });
  }

  const Library library = built_in();
  Observations observations;
};

TEST_F(JudgeClaim, falls_short_while_there_is_no_data_and_says_so) {
  for (const Claim& claim : library.claims()) {
    const Judgement judgement = judged(claim.id);
    EXPECT_EQ(judgement.verdict(), Verdict::short_of) << claim.id;
    EXPECT_THAT(judgement.reason, HasSubstr("no data")) << claim.id;
    EXPECT_EQ(got(judgement.modelled), "no data");
  }
}

TEST_F(JudgeClaim, rests_on_what_was_modelled) {
  fill_9d(Origin::modelled, 1.05);
  fill_9d(Origin::measured, 0.5);
  const Judgement judgement = judged("ef-9d4");
  EXPECT_EQ(judgement.verdict(), Verdict::within);
  EXPECT_EQ(judgement.measured.finding, Finding::contradicts);
  EXPECT_THAT(judgement.reason, HasSubstr("modelled: "));
}

TEST_F(JudgeClaim, rests_on_what_was_measured_where_nothing_was_modelled_and_says_so) {
  fill_9d(Origin::measured, 1.05);
  const Judgement judgement = judged("ef-9d4");
  EXPECT_EQ(judgement.verdict(), Verdict::within);
  EXPECT_EQ(judgement.modelled.finding, Finding::no_data);
  EXPECT_THAT(judgement.reason, HasSubstr("measured, not modelled"));
}

TEST_F(JudgeClaim, says_why_nothing_was_measured) {
  fill_9d(Origin::modelled, 1.05);
  observations.explain(figure_of(library, "9d"), Origin::measured, "the wire is cut");
  observations.explain(figure_of(library, "9d"), Origin::measured, "and all else");
  const Judgement judgement = judged("ef-9d4");
  EXPECT_EQ(judgement.verdict(), Verdict::within);
  EXPECT_THAT(judgement.reason, HasSubstr("nothing measured of figure efactory-9d: the wire"));
  EXPECT_THAT(judgement.reason, Not(HasSubstr("and all else")));
  fill_9d(Origin::measured, 1.05);
  EXPECT_THAT(judged("ef-9d4").reason, Not(HasSubstr("the wire")));
}

TEST_F(JudgeClaim, is_never_within_on_a_sweep_with_a_hole) {
  const Figure& figure = figure_of(library, "9d");
  fill(observations, figure, Origin::modelled, [](const Point&) { return 1e6; });
  Observations holed;
  for (const FigureRun& run : runs_of(figure)) {
    const Point& point = run.slots[0].point;
    if (point.series != "imm" || point.x != 1024) {
      add(holed, figure, Origin::modelled, point, 1e6);
    }
  }
  observations = holed;
  EXPECT_EQ(judged("ef-9d1").verdict(), Verdict::short_of);
  EXPECT_EQ(judged("ef-9d1").modelled.finding, Finding::no_data);
  EXPECT_THAT(judged("ef-9d1").reason, HasSubstr("imm at 1 KiB"));
  EXPECT_NE(judged("ef-9d2").modelled.finding, Finding::no_data);
}

TEST_F(JudgeClaim, adds_a_finding_to_what_is_not_within) {
  fill_9d(Origin::modelled, 1.05);
  EXPECT_THAT(judged("ef-9d4", {.finding = "the cause"}).reason, Not(HasSubstr("the cause")));
  fill_9d(Origin::modelled, 0.9);
  EXPECT_THAT(judged("ef-9d4", {.finding = "the cause"}).reason, HasSubstr("; the cause"));
}

TEST_F(JudgeClaim, adds_a_remark_to_every_verdict) {
  for (const double ratio : {1.05, 0.9}) {
    fill_9d(Origin::modelled, ratio);
    EXPECT_THAT(judged("ef-9d4", {.remark = "mind the fence"}).reason,
                HasSubstr("; mind the fence"));
  }
}

TEST_F(JudgeClaim, lists_what_is_spent_and_does_not_judge_it) {
  fill_9d(Origin::modelled, 1.05);
  const Judgement judgement = judged("ef-9d4", {.spent = "it set the checksum"});
  EXPECT_EQ(judgement.finding, Finding::spent);
  EXPECT_EQ(judgement.verdict(), Verdict::short_of);
  EXPECT_THAT(judgement.reason, HasSubstr("spent, not judged: it set the checksum"));
}

TEST_F(JudgeClaim, a_spent_claim_is_listed_before_its_figure_is_drawn) {
  const Claim& claim = *library.claim("fm-2a");
  const Judgement judgement =
      judge_claim(claim, library.figure("filemr", "2"), observations, library.comment("fm-2a"));
  EXPECT_EQ(judgement.finding, Finding::spent);
  EXPECT_THAT(judgement.reason, HasSubstr("spent, not judged: "));
}

// 9a has Forca's own number at 4 KB: one that is far too slow makes nobody better.
TEST_F(JudgeClaim, ours_is_better_only_where_the_rivals_stand_at_their_published_numbers) {
  const auto fill_9a = [&](double forca) {
    fill(observations, figure_of(library, "9a"), Origin::modelled, [&](const Point& point) {
      const double slow = point.x == 4096 ? 1 : 2;  // at small values it is nearer to eFactory
      return point.series == "forca-verify-always" ? slow * forca : 2.6 * 0.96e6;
    });
  };
  fill_9a(0.96e6);
  EXPECT_EQ(judged("ef-9a4").finding, Finding::better) << judged("ef-9a4").reason;
  fill_9a(0.3e6);
  EXPECT_EQ(judged("ef-9a4").finding, Finding::differs) << judged("ef-9a4").reason;
  EXPECT_THAT(judged("ef-9a4").reason, HasSubstr("forca-verify-always at 4 KiB stands at"));
}

TEST_F(JudgeClaim, a_shape_holds_at_every_seed_or_is_too_close) {
  const Figure& figure = figure_of(library, "9c");
  fill(observations, figure, Origin::modelled,
       [](const Point& point) { return point.series == "efactory-published" ? 1.1 : 1.0; });
  EXPECT_EQ(judged("ef-9c1").finding, Finding::agrees);
  const Sample swings{.value = 1.1, .low = 0.9, .high = 1.3, .by_seed = {1.3, 0.9, 1.1, 1.1, 1.1}};
  ASSERT_TRUE(
      observations.add(figure, Origin::modelled, {"ycsb-a", "efactory-published", "", 64}, swings)
          .ok());
  EXPECT_EQ(judged("ef-9c1").finding, Finding::too_close) << judged("ef-9c1").reason;
  EXPECT_THAT(judged("ef-9c1").reason, HasSubstr("otherwise at 1 of 5 seeds"));
}

TEST_F(JudgeClaim, names_what_is_a_burst) {
  fill_9d(Origin::modelled, 1.05);
  Sample burst = Sample::once(1.05e6);
  burst.is_burst = true;
  ASSERT_TRUE(observations
                  .add(figure_of(library, "9d"), Origin::modelled,
                       {"update-only", "efactory-published", "", 64}, burst)
                  .ok());
  EXPECT_THAT(judged("ef-9d4").reason, HasSubstr("a burst, as efactory-published at 64 B"));
}

TEST_F(JudgeClaim, tells_what_share_of_the_puts_is_persistent) {
  fill_9d(Origin::modelled, 1.05);
  Sample sample = Sample::once(1.05e6);
  sample.persistent_share = 0.5;
  ASSERT_TRUE(observations
                  .add(figure_of(library, "9d"), Origin::modelled,
                       {"update-only", "efactory-published", "", 64}, sample)
                  .ok());
  EXPECT_THAT(judged("ef-9d4").reason, HasSubstr("persistent at the end: efactory-published 50%"));
}

TEST_F(JudgeClaim, tells_point_range_and_upto_of_the_papers_own_numbers_within) {
  fill(observations, figure_of(library, "9a"), Origin::modelled, [](const Point& point) {
    const bool small = point.x <= 256;
    if (point.series == "imm" || point.series == "saw") {
      return 1 / 0.98;
    }
    if (point.series == "erda") {
      return 1 / (small ? 1.3 : 1.96);
    }
    return point.series == "forca-verify-always" ? 1 / (small ? 1.24 : 1.67) : 1.0;
  });
  for (const char* id : {"ef-9a1", "ef-9a2", "ef-9a3", "ef-9a4"}) {
    EXPECT_EQ(judged(id).finding, Finding::agrees) << judged(id).reason;
  }
}

}  // namespace
}  // namespace remora::figures
