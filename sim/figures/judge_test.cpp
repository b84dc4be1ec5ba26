#include "sim/figures/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "sim/figures/figures_testing.h"

namespace remora::figures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Claim claim_of(ClaimKind kind, Better better, double worst, double best) {
  Claim claim;
  claim.id = "c";
  claim.kind = kind;
  claim.better = better;
  claim.worst = worst;
  claim.best = best;
  return claim;
}

Outcome outcome(const Claim& claim, const std::vector<double>& values) {
  std::vector<Number> numbers;
  for (const double value : values) {
    numbers.push_back(
        {value, static_cast<double>(numbers.size()), 0, "point " + std::to_string(numbers.size())});
  }
  return judge_numbers(claim, numbers);
}

Verdict verdict(const Claim& claim, const std::vector<double>& values) {
  return outcome(claim, values).verdict;
}

TEST(Point, is_within_a_fifth_of_the_papers_number) {
  const Claim higher = claim_of(ClaimKind::point, Better::higher, 2, 2);
  EXPECT_EQ(verdict(higher, {2}), Verdict::within);
  EXPECT_EQ(verdict(higher, {1.6}), Verdict::within);
  EXPECT_EQ(verdict(higher, {2.4}), Verdict::within);
  EXPECT_EQ(verdict(higher, {1.59}), Verdict::short_of);
  EXPECT_EQ(verdict(higher, {2.41}), Verdict::beyond);
  const Claim lower = claim_of(ClaimKind::point, Better::lower, 0.5, 0.5);
  EXPECT_EQ(verdict(lower, {0.6}), Verdict::within);
  EXPECT_EQ(verdict(lower, {0.4}), Verdict::within);
  EXPECT_EQ(verdict(lower, {0.61}), Verdict::short_of);
  EXPECT_EQ(verdict(lower, {0.39}), Verdict::beyond);
}

TEST(Point, of_a_sweep_is_its_geometric_mean) {
  const Outcome mean = outcome(claim_of(ClaimKind::point, Better::higher, 2, 2), {1, 2, 4});
  EXPECT_EQ(mean.verdict, Verdict::within);
  EXPECT_DOUBLE_EQ(*mean.best, 2);
  EXPECT_EQ(*mean.worst, *mean.best);
  EXPECT_THAT(mean.reason, HasSubstr("geometric mean of 3 points, from 1"));
}

TEST(Range, reaches_both_ends) {
  const Claim higher = claim_of(ClaimKind::range, Better::higher, 1.0, 3.0);
  EXPECT_EQ(verdict(higher, {1.0, 2.0, 3.0}), Verdict::within);
  EXPECT_EQ(verdict(higher, {2.4, 0.85}), Verdict::within);
  EXPECT_EQ(verdict(higher, {0.84, 3.0}), Verdict::short_of);
  EXPECT_EQ(verdict(higher, {1.0, 2.39}), Verdict::short_of);
  EXPECT_EQ(verdict(higher, {2.0, 3.6}), Verdict::within);
  EXPECT_EQ(verdict(higher, {1.0, 3.61}), Verdict::beyond);
  EXPECT_EQ(verdict(higher, {0.8, 3.61}), Verdict::short_of);
  const Claim lower = claim_of(ClaimKind::range, Better::lower, 1.0, 0.5);
  EXPECT_EQ(verdict(lower, {1.15, 0.6}), Verdict::within);
  EXPECT_EQ(verdict(lower, {1.16, 0.6}), Verdict::short_of);
  EXPECT_EQ(verdict(lower, {1.0, 0.61}), Verdict::short_of);
  EXPECT_EQ(verdict(lower, {1.0, 0.39}), Verdict::beyond);
}

TEST(Upto, has_no_point_worse_than_worst) {
  const Claim higher = claim_of(ClaimKind::upto, Better::higher, 1.0, 2.0);
  EXPECT_EQ(verdict(higher, {1.0, 1.6}), Verdict::within);
  EXPECT_EQ(verdict(higher, {0.99, 2.0}), Verdict::short_of);
  EXPECT_EQ(verdict(higher, {1.0, 1.5}), Verdict::short_of);
  EXPECT_EQ(verdict(higher, {1.0, 2.5}), Verdict::beyond);
  const Claim lower = claim_of(ClaimKind::upto, Better::lower, 1.0, 0.5);
  EXPECT_EQ(verdict(lower, {1.0, 0.6}), Verdict::within);
  EXPECT_EQ(verdict(lower, {1.01, 0.5}), Verdict::short_of);
  EXPECT_EQ(verdict(lower, {1.0, 0.39}), Verdict::beyond);
  const Claim from_zero = claim_of(ClaimKind::upto, Better::higher, 0.0, 0.9813);
  EXPECT_EQ(verdict(from_zero, {0.01, 0.98}), Verdict::within);
}

TEST(Short, says_which_point_failed_and_by_how_much) {
  const Outcome worst =
      outcome(claim_of(ClaimKind::range, Better::higher, 1.0, 3.0), {2.0, 0.5, 3.0});
  EXPECT_THAT(worst.reason, HasSubstr("0.5 (point 1)"));
  EXPECT_THAT(worst.reason, HasSubstr("within 15% (0.85)"));
  const Outcome best = outcome(claim_of(ClaimKind::upto, Better::higher, 1.0, 3.0), {1.0, 2.0});
  EXPECT_THAT(best.reason, HasSubstr("2 (point 1) does not reach 3 within 20% (2.4)"));
}

TEST(Judge, has_no_verdict_without_numbers) {
  for (const ClaimKind kind : {ClaimKind::point, ClaimKind::range, ClaimKind::upto}) {
    const Outcome none = outcome(claim_of(kind, Better::higher, 1, 1), {});
    EXPECT_EQ(none.verdict, Verdict::no_data);
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
    fill(observations, figure_of(library, "9d"), origin,
         [&](const Point& point) { return point.series == "efactory" ? ratio * 1e6 : 1e6; });
  }

  const Library library = built_in();
  Observations observations;
};

TEST_F(JudgeClaim, falls_short_while_there_is_no_data_and_says_so) {
  for (const Claim& claim : library.claims()) {
    const Judgement judgement = judged(claim.id);
    EXPECT_EQ(judgement.verdict, Verdict::short_of) << claim.id;
    EXPECT_THAT(judgement.reason, HasSubstr("no data")) << claim.id;
    EXPECT_EQ(got(claim, judgement.modelled), "no data");
  }
}

TEST_F(JudgeClaim, rests_on_what_was_modelled) {
  fill_9d(Origin::modelled, 1.05);
  fill_9d(Origin::measured, 0.5);
  const Judgement judgement = judged("ef-9d4");
  EXPECT_EQ(judgement.verdict, Verdict::within);
  EXPECT_EQ(judgement.measured.verdict, Verdict::short_of);
  EXPECT_THAT(judgement.reason, HasSubstr("modelled: "));
}

TEST_F(JudgeClaim, rests_on_what_was_measured_where_nothing_was_modelled_and_says_so) {
  fill_9d(Origin::measured, 1.05);
  const Judgement judgement = judged("ef-9d4");
  EXPECT_EQ(judgement.verdict, Verdict::within);
  EXPECT_EQ(judgement.modelled.verdict, Verdict::no_data);
  EXPECT_THAT(judgement.reason, HasSubstr("measured, not modelled"));
}

TEST_F(JudgeClaim, says_why_nothing_was_measured) {
  fill_9d(Origin::modelled, 1.05);
  observations.explain(figure_of(library, "9d"), Origin::measured, "the wire is cut");
  observations.explain(figure_of(library, "9d"), Origin::measured, "and all else");
  const Judgement judgement = judged("ef-9d4");
  EXPECT_EQ(judgement.verdict, Verdict::within);
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
  EXPECT_EQ(judged("ef-9d1").verdict, Verdict::short_of);
  EXPECT_EQ(judged("ef-9d1").modelled.verdict, Verdict::no_data);
  EXPECT_THAT(judged("ef-9d1").reason, HasSubstr("imm at 1 KiB"));
  EXPECT_NE(judged("ef-9d2").modelled.verdict, Verdict::no_data);
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

TEST_F(JudgeClaim, tells_point_range_and_upto_of_the_papers_own_numbers_within) {
  fill(observations, figure_of(library, "9a"), Origin::modelled, [](const Point& point) {
    const bool small = point.x <= 256;
    if (point.series == "imm" || point.series == "saw") {
      return 1 / 0.98;
    }
    if (point.series == "erda") {
      return 1 / (small ? 1.3 : 1.96);
    }
    return point.series == "forca" ? 1 / (small ? 1.24 : 1.67) : 1.0;
  });
  for (const char* id : {"ef-9a1", "ef-9a2", "ef-9a3", "ef-9a4"}) {
    EXPECT_EQ(judged(id).verdict, Verdict::within) << judged(id).reason;
  }
}

}  // namespace
}  // namespace remora::figures
