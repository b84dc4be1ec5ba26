#include "lab/figures/judge_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "lab/figures/figures_testing.h"

namespace remora::figures {
namespace {

using ::testing::HasSubstr;

// The shape that one condition makes, over the small figure filled by `value`.
Outcome shape(const std::string& condition, const std::function<double(const Point&)>& value) {
  const Figure figure =
      small_figure(R"({"claim": "s", "conditions": [{"says": "it does", )" + condition + "}]}");
  Observations observations;
  fill(observations, figure, Origin::modelled, value);
  return judge_shape(figure, figure.claims[0].conditions, observations, Origin::modelled);
}

double rising(const Point& point) {
  return point.series == "a" ? point.x : 2 * point.x + 1;
}

TEST(Shape, holds_if_every_number_keeps_to_its_bounds) {
  EXPECT_EQ(*shape(R"("subject": ["a"], "versus": ["b", "c"], "below": 0.5)", rising).holds, true);
  const Outcome broken = shape(R"("subject": ["a"], "versus": ["b"], "below": 0.4)", rising);
  EXPECT_EQ(broken.finding, Finding::contradicts);
  EXPECT_EQ(*broken.holds, false);
  EXPECT_THAT(broken.reason, HasSubstr("a / b at 2, one is 0.4, not below 0.4"));
}

TEST(Shape, tells_strict_bounds_from_others) {
  const auto same = [](const Point&) { return 1.0; };
  EXPECT_FALSE(*shape(R"("subject": ["a"], "versus": ["b"], "above": 1)", same).holds);
  EXPECT_FALSE(*shape(R"("subject": ["a"], "versus": ["b"], "below": 1)", same).holds);
  EXPECT_TRUE(*shape(R"("subject": ["a"], "versus": ["b"], "at_least": 1)", same).holds);
  EXPECT_TRUE(*shape(R"("subject": ["a"], "versus": ["b"], "at_most": 1)", same).holds);
  EXPECT_FALSE(*shape(R"("subject": ["a"], "versus": ["b"], "at_least": 1.1)", same).holds);
  EXPECT_FALSE(*shape(R"("subject": ["a"], "versus": ["b"], "at_most": 0.9)", same).holds);
}

TEST(Shape, follows_a_trend_along_each_curve) {
  EXPECT_TRUE(*shape(R"("subject": ["a", "b"], "trend": "rises")", rising).holds);
  EXPECT_FALSE(*shape(R"("subject": ["a", "b"], "trend": "falls")", rising).holds);
  const auto flat_end = [](const Point& point) { return point.x == 4 ? 2.0 : point.x; };
  EXPECT_THAT(shape(R"("subject": ["a"], "trend": "rises")", flat_end).reason,
              HasSubstr("a at 4, one is 2, not above 2"));
}

TEST(Shape, compares_growth_with_that_of_a_rival) {
  EXPECT_TRUE(
      *shape(R"("of": "growth", "subject": ["a"], "versus": ["b"], "above": 1)", rising).holds);
  EXPECT_FALSE(
      *shape(R"("of": "increase", "subject": ["a"], "versus": ["b"], "above": 1)", rising).holds);
}

TEST(Shape, has_no_verdict_without_data_or_conditions) {
  const Figure figure = small_figure(
      R"({"claim": "s", "conditions": [{"says": "it does", "subject": ["a"], "above": 0}]})");
  const Observations nothing;
  EXPECT_EQ(judge_shape(figure, figure.claims[0].conditions, nothing, Origin::modelled).finding,
            Finding::no_data);
  EXPECT_EQ(judge_shape(figure, {}, nothing, Origin::modelled).finding, Finding::no_data);
}

class PaperShape : public ::testing::Test {
 protected:
  Verdict verdict(const std::string& claim, const std::function<double(const Point&)>& value) {
    const Claim& of = *library.claim(claim);
    const Figure& figure = *library.figure(of.paper, of.figure);
    Observations observations;
    fill(observations, figure, Origin::modelled, value);
    return judge_claim(of, &figure, observations, {}).verdict();
  }

  const Library library = built_in();
};

TEST_F(PaperShape, of_figure_1_wants_saw_slower_than_rpc_at_every_size) {
  EXPECT_EQ(verdict("ef-1b", [](const Point& p) { return p.series == "saw" ? 1.1 : 1.0; }),
            Verdict::within);
  EXPECT_EQ(
      verdict("ef-1b", [](const Point& p) { return p.series == "saw" && p.x != 64 ? 1.1 : 1.0; }),
      Verdict::short_of);
}

TEST_F(PaperShape, of_figure_9c_wants_efactory_above_every_rival) {
  EXPECT_EQ(verdict("ef-9c1",
                    [](const Point& p) { return p.series == "efactory-published" ? 1.1 : 1.0; }),
            Verdict::within);
  EXPECT_EQ(verdict("ef-9c1",
                    [](const Point& p) {
                      return p.series == "erda" && p.x == 64    ? 1.2
                             : p.series == "efactory-published" ? 1.1
                                                                : 1.0;
                    }),
            Verdict::short_of);
}

TEST_F(PaperShape, of_figure_10_wants_efactory_to_scale_and_imm_and_saw_to_flatten) {
  const auto flat = [](const Point& p) { return std::min(p.x, 6.0); };
  const auto paper = [&](const Point& p) {
    const bool flattens = p.panel == "update-only" && (p.series == "imm" || p.series == "saw");
    return flattens ? flat(p) : 0.9 * p.x + 0.1;
  };
  EXPECT_EQ(verdict("ef-10i", paper), Verdict::within);
  EXPECT_EQ(verdict("ef-10i", flat), Verdict::short_of);
  EXPECT_EQ(verdict("ef-10i", [](const Point& p) { return p.x; }), Verdict::short_of);
}

}  // namespace
}  // namespace remora::figures
