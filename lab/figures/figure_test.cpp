#include "lab/figures/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/figures/figures_testing.h"

namespace remora::figures {
namespace {

using ::testing::HasSubstr;

std::string figures_complaint(const std::string& text) {
  Result<PaperFigures> figures = parse_figures("small", text);
  EXPECT_FALSE(figures.ok());
  return std::string(figures.status().message());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos);
  return text.replace(at, from.size(), to);
}

TEST(Figure, that_reads_from_a_series_it_does_not_have_is_refused) {
  EXPECT_THAT(figures_complaint(small_figures(R"({"claim": "x", "subject": ["d"]})")),
              HasSubstr("series 'd'"));
  EXPECT_THAT(
      figures_complaint(small_figures(R"({"claim": "x", "subject": ["a"], "panels": ["six"]})")),
      HasSubstr("panel 'six'"));
}

TEST(Figure, has_the_profile_of_its_paper_unless_it_names_its_own) {
  EXPECT_EQ(to_text(parse_figures("small", small_figures("")).value().figures[0].profile),
            "n, m, c");
  const std::string own =
      replaced(small_figures(""), "\"title\"",
               "\"profile\": {\"nic\": \"x\", \"memory\": \"y\", \"cpu\": \"z\"}, \"title\"");
  EXPECT_EQ(to_text(parse_figures("small", own).value().figures[0].profile), "x, y, z");
}

TEST(Figure, that_reads_no_x_of_its_axis_is_refused) {
  EXPECT_THAT(figures_complaint(small_figures(R"({"claim": "x", "subject": ["a"], "x": [5, 9]})")),
              HasSubstr("no x of the axis"));
  EXPECT_THAT(figures_complaint(small_figures(
                  R"({"claim": "x", "of": "growth", "subject": ["a"], "x": [1, 3]})")),
              HasSubstr("not on the x axis"));
}

TEST(Figure, with_a_condition_that_nothing_could_break_is_refused) {
  EXPECT_THAT(figures_complaint(small_figures(
                  R"({"claim": "x", "conditions": [{"says": "s", "subject": ["a"]}]})")),
              HasSubstr("no bound"));
}

TEST(Figure, with_a_misspelt_field_is_refused) {
  EXPECT_THAT(figures_complaint(replaced(small_figures(""), "\"title\"", "\"titel\"")),
              HasSubstr("title"));
  EXPECT_THAT(
      figures_complaint(replaced(small_figures(""), "\"seed\": 7}", "\"seed\": 7}, \"y\": 1")),
      HasSubstr("'y'"));
}

TEST(Figure, with_an_axis_that_cannot_be_drawn_is_refused) {
  EXPECT_THAT(figures_complaint(replaced(small_figures(""), "[1, 2, 4]", "[1, 1, 4]")),
              HasSubstr("ascend"));
  EXPECT_THAT(figures_complaint(replaced(small_figures(""), "\"lines\"", "\"bars\"")),
              HasSubstr("category"));
  EXPECT_THAT(figures_complaint(replaced(replaced(small_figures(""), "[1, 2, 4]", "[0, 2, 4]"),
                                         "\"linear\"", "\"log2\"")),
              HasSubstr("above 0"));
}

TEST(Figure, names_sizes_as_people_do) {
  const Library library = built_in();
  EXPECT_EQ(figure_of(library, "9a").x_name(4096), "4 KiB");
  EXPECT_EQ(figure_of(library, "11").x_name(3), "100% PUT");
}

TEST(Runs, have_the_parameters_of_figure_panel_series_and_x) {
  const std::vector<FigureRun> runs = runs_of(small_figure(""));
  ASSERT_EQ(runs.size(), 2U * 3U * 3U);
  const FigureRun& last = runs.back();
  EXPECT_EQ(to_text(last.parameters), "clients=4 engine=c mix=w seed=7");
  ASSERT_EQ(last.slots.size(), 1U);
  EXPECT_EQ(last.slots[0].point, (Point{"two", "c", "", 4}));
  EXPECT_EQ(last.slots[0].metric, "v");
}

TEST(Runs, are_shared_by_points_that_need_the_same) {
  const Library library = built_in();
  const std::vector<FigureRun> runs = runs_of(figure_of(library, "1"));
  EXPECT_EQ(runs.size(), 4U * 5U);  // median and 99th percentile come from one run
  ASSERT_EQ(runs[0].slots.size(), 2U);
  EXPECT_EQ(runs[0].slots[0].metric, "latency_p50_us");
  EXPECT_EQ(runs[0].slots[1].metric, "latency_p99_us");
}

TEST(Runs, of_a_stacked_figure_fill_every_part) {
  const Library library = built_in();
  const Figure& figure = figure_of(library, "2");
  for (const FigureRun& run : runs_of(figure)) {
    EXPECT_EQ(run.slots.size(), figure.parts.size());
  }
}

TEST(Parameters, say_what_is_missing_or_of_another_type) {
  Parameters parameters;
  parameters.set("clients", std::int64_t{8});
  parameters.set("engine", std::string("efactory"));
  parameters.set("cleaning", true);
  EXPECT_EQ(*parameters.integer("clients"), 8);
  EXPECT_EQ(*parameters.number("clients"), 8.0);
  EXPECT_EQ(*parameters.text("engine"), "efactory");
  EXPECT_TRUE(*parameters.flag("cleaning"));
  EXPECT_EQ(parameters.text("nothing").code(), Code::not_found);
  EXPECT_EQ(parameters.integer("engine").code(), Code::invalid_argument);
}

}  // namespace
}  // namespace remora::figures
