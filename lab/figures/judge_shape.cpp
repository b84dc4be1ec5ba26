#include "lab/figures/judge_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace remora::figures {
namespace {

constexpr std::size_t named_missing = 3;

std::string broken_bound(const Condition& condition, double value) {
  if (condition.above && !(value > *condition.above)) {
    return "not above " + number_text(*condition.above);
  }
  if (condition.below && !(value < *condition.below)) {
    return "not below " + number_text(*condition.below);
  }
  if (condition.at_least && !(value >= *condition.at_least)) {
    return "less than " + number_text(*condition.at_least);
  }
  if (condition.at_most && !(value <= *condition.at_most)) {
    return "more than " + number_text(*condition.at_most);
  }
  return "";
}

std::string broken_trend(Trend trend, const Number& before, const Number& after) {
  if (trend == Trend::any || before.curve != after.curve) {
    return "";
  }
  const bool kept = trend == Trend::falls ? after.value < before.value : after.value > before.value;
  return kept ? ""
              : fmt::format("not {} {}", trend == Trend::falls ? "below" : "above",
                            number_text(before.value));
}

// The numbers of one seed alone.
std::vector<Number> of_seed(std::vector<Number> numbers, std::size_t seed) {
  for (Number& number : numbers) {
    number.value = number.by_seed[seed];
  }
  return numbers;
}

// The first number that breaks the condition; empty if none does.
std::string breach(const Condition& condition, const std::vector<Number>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::string broken = broken_bound(condition, numbers[i].value);
    if (broken.empty() && i > 0) {
      broken = broken_trend(condition.trend, numbers[i - 1], numbers[i]);
    }
    if (!broken.empty()) {
      return fmt::format("{} is {}, {}", numbers[i].where, number_text(numbers[i].value), broken);
    }
  }
  return "";
}

}  // namespace

Outcome judge_shape(const Figure& figure, std::span<const Condition> conditions,
                    const Observations& observations, Origin origin) {
  if (conditions.empty()) {
    return {.reason = "no data: the figure's file has no condition for this shape"};
  }
  Outcome outcome{.finding = Finding::agrees, .holds = true};
  std::string bursts;
  std::map<std::string, double> persistent;
  for (const Condition& condition : conditions) {
    const Numbers numbers = read(figure, condition.reading, observations, origin);
    if (!numbers.complete()) {
      return no_data(figure, numbers, observations, origin);
    }
    const std::string broken = breach(condition, numbers.numbers);
    if (!broken.empty() && *outcome.holds) {
      outcome.finding = Finding::contradicts;
      outcome.holds = false;
      outcome.reason = fmt::format("\"{}\" does not hold: {}", condition.says, broken);
    }
    const std::size_t seeds = numbers.numbers.front().by_seed.size();
    std::size_t against = 0;
    for (std::size_t seed = 0; seed < seeds; ++seed) {
      const bool is_kept = breach(condition, of_seed(numbers.numbers, seed)).empty();
      against += is_kept != broken.empty() ? std::size_t{1} : std::size_t{0};
    }
    if (against != 0 && (broken.empty() ? *outcome.holds : true)) {
      outcome.finding = Finding::too_close;
      outcome.reason +=
          fmt::format("{}\"{}\" is otherwise at {} of {} seeds", outcome.reason.empty() ? "" : "; ",
                      condition.says, against, seeds);
    }
    persistent.insert(numbers.persistent.begin(), numbers.persistent.end());
    bursts += numbers.bursts.empty() ? "" : fmt::format("; {} is a burst", numbers.bursts.front());
  }
  if (outcome.finding == Finding::agrees) {
    for (const Condition& condition : conditions) {
      outcome.reason += (outcome.reason.empty() ? "" : "; ") + condition.says;
    }
  }
  outcome.reason += bursts;
  outcome.reason += persistent.empty() ? "" : "; " + persistent_text(persistent);
  return outcome;
}

Outcome no_data(const Figure& figure, const Numbers& numbers, const Observations& observations,
                Origin origin) {
  const std::string cause = observations.cause(figure, origin);
  const std::string because = cause.empty() ? "" : ": " + cause;
  if (!observations.any(figure, origin)) {
    return {.reason = fmt::format("no data: nothing {} of figure {}{}", to_string(origin),
                                  figure.key(), because)};
  }
  std::string missing;
  for (std::size_t i = 0; i < std::min(numbers.missing.size(), named_missing); ++i) {
    missing += (i == 0 ? "" : "; ") + numbers.missing[i];
  }
  if (numbers.missing.size() > named_missing) {
    missing += fmt::format("; and {} more", numbers.missing.size() - named_missing);
  }
  return {.reason = fmt::format("no data: of figure {}, not {}: {}{}", figure.key(),
                                to_string(origin), missing, because)};
}

}  // namespace remora::figures
