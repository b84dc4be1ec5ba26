#include "lab/figures/observations.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/figures/figures_testing.h"
#include "lab/figures/numbers.h"

namespace remora::figures {
namespace {

TEST(Observations, keep_modelled_and_measured_apart) {
  const Figure figure = small_figure("");
  Observations observations;
  const Point point{"one", "a", "", 2};
  EXPECT_FALSE(observations.any(figure, Origin::modelled));
  add(observations, figure, Origin::measured, point, 5);
  EXPECT_EQ(observations.find(figure, Origin::modelled, point), nullptr);
  ASSERT_NE(observations.find(figure, Origin::measured, point), nullptr);
  EXPECT_EQ(observations.find(figure, Origin::measured, point)->value, 5);
  EXPECT_FALSE(observations.any(figure, Origin::modelled));
  EXPECT_TRUE(observations.any(figure, Origin::measured));
}

TEST(Observations, refuse_a_point_that_the_figure_does_not_have) {
  const Figure figure = small_figure("");
  Observations observations;
  for (const Point& point : {Point{"three", "a", "", 1}, Point{"one", "d", "", 1},
                             Point{"one", "a", "crc", 1}, Point{"one", "a", "", 3}}) {
    EXPECT_EQ(observations.add(figure, Origin::modelled, point, Sample::once(1)).code(),
              Code::invalid_argument);
  }
  EXPECT_TRUE(observations.empty());
}

TEST(Observations, refuse_a_sample_that_is_none) {
  const Figure figure = small_figure("");
  Observations observations;
  for (const Sample& sample : {Sample::once(std::nan("")), Sample::once(HUGE_VAL), Sample::once(-1),
                               Sample{.value = 5, .low = 6, .high = 7}}) {
    EXPECT_FALSE(observations.add(figure, Origin::modelled, {"one", "a", "", 1}, sample).ok());
  }
  EXPECT_TRUE(observations.empty());
}

TEST(Observations, have_one_sample_to_a_point) {
  const Figure figure = small_figure("");
  Observations observations;
  add(observations, figure, Origin::modelled, {"one", "a", "", 1}, 5);
  add(observations, figure, Origin::modelled, {"one", "a", "", 1}, 6);
  EXPECT_EQ(observations.find(figure, Origin::modelled, {"one", "a", "", 1})->value, 6);
}

class Read : public ::testing::Test {
 protected:
  // a is 10 x, b is 10 + x, c is 5, twice as much in the panel two.
  Read() {
    fill(observations, figure, Origin::modelled, [](const Point& point) {
      const double value = point.series == "a"   ? 10 * point.x
                           : point.series == "b" ? 10 + point.x
                                                 : 5;
      return point.panel == "two" ? 2 * value : value;
    });
  }

  std::vector<double> values(const Reading& reading) const {
    const Numbers numbers = read(figure, reading, observations, Origin::modelled);
    EXPECT_TRUE(numbers.complete());
    std::vector<double> values;
    for (const Number& number : numbers.numbers) {
      values.push_back(number.value);
    }
    return values;
  }

  const Figure figure = small_figure("");
  Observations observations;
};

TEST_F(Read, takes_values_and_ratios_of_every_panel_subject_and_rival) {
  EXPECT_EQ(values({.panels = {"one"}, .subjects = {"a"}}), (std::vector<double>{10, 20, 40}));
  EXPECT_EQ(values({.subjects = {"a"}, .versus = {"c"}}), (std::vector<double>{2, 4, 8, 2, 4, 8}));
  EXPECT_EQ(values({.panels = {"one"}, .subjects = {"a", "c"}, .versus = {"c", "a"}}).size(), 12U);
}

TEST_F(Read, keeps_to_the_sweep) {
  EXPECT_EQ(values({.panels = {"one"}, .subjects = {"a"}, .x = {{1.5, 4}}}),
            (std::vector<double>{20, 40}));
}

TEST_F(Read, takes_growth_increase_and_efficiency_between_the_ends) {
  const auto one = [&](Quantity of, std::vector<std::string> versus) {
    return values({.of = of, .panels = {"one"}, .subjects = {"a"}, .versus = std::move(versus)});
  };
  EXPECT_EQ(one(Quantity::growth, {}), (std::vector<double>{4}));
  EXPECT_EQ(one(Quantity::increase, {}), (std::vector<double>{30}));
  EXPECT_EQ(one(Quantity::efficiency, {}), (std::vector<double>{1}));
  EXPECT_EQ(one(Quantity::growth, {"c"}), (std::vector<double>{4}));
  EXPECT_EQ(one(Quantity::increase, {"b"}), (std::vector<double>{10}));
}

TEST_F(Read, takes_the_share_of_a_part_in_its_bar) {
  const Library library = built_in();
  const Figure& stacked = figure_of(library, "2");
  fill(observations, stacked, Origin::modelled,
       [](const Point& point) { return point.part == "crc" ? 3.0 : 1.0; });
  const Numbers numbers =
      read(stacked, stacked.reading_of("ef-2a")->reading, observations, Origin::modelled);
  ASSERT_TRUE(numbers.complete());
  ASSERT_EQ(numbers.numbers.size(), 1U);
  EXPECT_DOUBLE_EQ(numbers.numbers[0].value, 0.5);
}

TEST_F(Read, names_what_is_missing) {
  Observations some;
  add(some, figure, Origin::modelled, {"one", "a", "", 1}, 1);
  add(some, figure, Origin::modelled, {"one", "a", "", 2}, 1);
  const Numbers numbers =
      read(figure, {.panels = {"one"}, .subjects = {"a"}}, some, Origin::modelled);
  EXPECT_FALSE(numbers.complete());
  EXPECT_EQ(numbers.missing, (std::vector<std::string>{"a at 4, one"}));
}

TEST_F(Read, has_no_ratio_to_nothing) {
  add(observations, figure, Origin::modelled, {"one", "c", "", 4}, 0);
  const Numbers numbers = read(figure, {.panels = {"one"}, .subjects = {"a"}, .versus = {"c"}},
                               observations, Origin::modelled);
  EXPECT_FALSE(numbers.complete());
}

}  // namespace
}  // namespace remora::figures
