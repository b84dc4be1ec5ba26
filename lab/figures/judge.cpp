#include "lab/figures/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "lab/figures/judge_shape.h"

namespace remora::figures {
namespace {

constexpr double rival_tolerance = 0.20;
constexpr std::size_t enough_seeds = 5;

double mean_of(std::span<const double> values) {
  const bool positive = std::ranges::all_of(values, [](double value) { return value > 0; });
  double sum = 0;
  for (const double value : values) {
    sum += positive ? std::log(value) : value;
  }
  const double mean = sum / static_cast<double>(values.size());
  return positive ? std::exp(mean) : mean;
}

// The one number of a point.
Number mean(std::span<const Number> numbers) {
  if (numbers.size() == 1) {
    return numbers.front();
  }
  std::vector<double> values;
  std::size_t seeds = numbers.front().by_seed.size();
  for (const Number& number : numbers) {
    values.push_back(number.value);
    seeds = std::min(seeds, number.by_seed.size());
  }
  const auto [least, most] = std::ranges::minmax_element(numbers, {}, &Number::value);
  Number one{.value = mean_of(values)};
  one.where =
      fmt::format("{}mean of {} points, from {} ({}) to {} ({})",
                  least->value > 0 ? "geometric " : "", numbers.size(), number_text(least->value),
                  least->where, number_text(most->value), most->where);
  for (std::size_t seed = 0; seed < seeds; ++seed) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      values[i] = numbers[i].by_seed[seed];
    }
    one.by_seed.push_back(mean_of(values));
  }
  return one;
}

// What says less for a claim is greater.
int gravity(Finding finding) {
  switch (finding) {
    case Finding::agrees:
      return 0;
    case Finding::better:
      return 1;
    case Finding::too_close:
      return 2;
    case Finding::differs:
      return 3;
    default:
      return 4;
  }
}

std::string interval_text(const Interval& interval) {
  return interval.seeds < 2 ? number_text(interval.value)
                            : fmt::format("{} [{}, {}]", number_text(interval.value),
                                          number_text(interval.low), number_text(interval.high));
}

// One end of a claim: what was said there, and what we have.
struct Side {
  Finding finding;
  std::string text;
};

Side judge_end(const Claim& claim, End end, double paper, const Number& ours,
               const Interval& interval) {
  const Finding finding = compare(claim, end, paper, interval);
  std::string text =
      fmt::format("{} for {} ({})", interval_text(interval), number_text(paper), ours.where);
  if (finding == Finding::differs || finding == Finding::better) {
    text += ", " + difference_text(claim, paper, ours.value);
  }
  return {finding, text};
}

Outcome judge_ends(const Claim& claim, const Number& worst, const Number& best) {
  Outcome outcome;
  outcome.worst = worst.value;
  outcome.best = best.value;
  outcome.worst_interval = interval_of(worst.value, worst.by_seed);
  outcome.best_interval = interval_of(best.value, best.by_seed);
  const Side at_best = judge_end(claim, End::best, *claim.best, best, *outcome.best_interval);
  outcome.finding = at_best.finding;
  outcome.reason = at_best.text;
  if (claim.kind == ClaimKind::range || claim.kind == ClaimKind::upto) {
    const Side at_worst =
        judge_end(claim, End::worst, *claim.worst, worst, *outcome.worst_interval);
    if (gravity(at_worst.finding) > gravity(at_best.finding)) {
      outcome.finding = at_worst.finding;
    }
    outcome.reason = fmt::format("at worst {}; at best {}", at_worst.text, at_best.text);
  }
  if (outcome.best_interval->seeds < enough_seeds) {
    outcome.reason +=
        fmt::format("; {} seed{}, and five make an interval", outcome.best_interval->seeds,
                    outcome.best_interval->seeds == 1 ? "" : "s");
  }
  return outcome;
}

// A rival of the claim that does not stand where the paper has it; empty if none is known.
std::string misplaced_rival(const Figure& figure, const Reading& reading,
                            const Observations& observations, Origin origin) {
  for (const PublishedValue& published : figure.published) {
    const Sample* const ours =
        observations.find(figure, origin, {published.panel, published.series, "", published.x});
    if (ours == nullptr || std::ranges::count(reading.versus, published.series) == 0) {
      continue;
    }
    const double ratio = ours->value / published.value;
    if (std::abs(ratio - 1) > rival_tolerance) {
      return fmt::format("{} at {} stands at {:.2f} of its published number", published.series,
                         figure.x_name(published.x), ratio);
    }
  }
  return "";
}

}  // namespace

Verdict verdict_of(Finding finding) {
  switch (finding) {
    case Finding::agrees:
      return Verdict::within;
    case Finding::better:
      return Verdict::beyond;
    case Finding::no_data:
      return Verdict::no_data;
    default:
      return Verdict::short_of;
  }
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::within:
      return "within";
    case Verdict::beyond:
      return "beyond";
    case Verdict::short_of:
      return "short";
    case Verdict::no_data:
      return "no data";
  }
  return "";
}

Outcome judge_numbers(const Claim& claim, std::span<const Number> numbers) {
  REMORA_CHECK(claim.kind != ClaimKind::shape, "a shape is judged by its conditions");
  if (numbers.empty()) {
    return {.reason = "no data"};
  }
  if (claim.kind == ClaimKind::point || claim.kind == ClaimKind::match) {
    const Number one = mean(numbers);
    return judge_ends(claim, one, one);
  }
  const auto [least, most] = std::ranges::minmax_element(numbers, {}, &Number::value);
  return *claim.better == Better::higher ? judge_ends(claim, *least, *most)
                                         : judge_ends(claim, *most, *least);
}

Outcome judge(const Claim& claim, const Figure& figure, const ClaimReading& reading,
              const Observations& observations, Origin origin) {
  if (claim.kind == ClaimKind::shape) {
    return judge_shape(figure, reading.conditions, observations, origin);
  }
  const Numbers numbers = read(figure, reading.reading, observations, origin);
  if (!numbers.complete()) {
    return no_data(figure, numbers, observations, origin);
  }
  Outcome outcome = judge_numbers(claim, numbers.numbers);
  if (outcome.finding == Finding::better) {
    const std::string rival = misplaced_rival(figure, reading.reading, observations, origin);
    if (!rival.empty()) {
      outcome.finding = Finding::differs;
      outcome.reason += "; not ours is better, since " + rival;
    }
  }
  if (!numbers.bursts.empty()) {
    outcome.reason +=
        fmt::format("; {} of them a burst, as {}", numbers.bursts.size(), numbers.bursts.front());
  }
  if (!numbers.persistent.empty()) {
    outcome.reason += "; " + persistent_text(numbers.persistent);
  }
  return outcome;
}

std::string got(const Outcome& outcome) {
  if (outcome.finding == Finding::no_data) {
    return "no data";
  }
  if (outcome.holds) {
    return *outcome.holds ? "holds" : "does not hold";
  }
  if (*outcome.worst == *outcome.best) {
    return number_text(*outcome.best);
  }
  return fmt::format("{} to {}", number_text(*outcome.worst), number_text(*outcome.best));
}

Judgement judge_claim(const Claim& claim, const Figure* figure, const Observations& observations,
                      const Comment& comment) {
  Judgement judgement;
  judgement.claim = claim;
  const std::string spent =
      comment.spent.empty() ? "" : "spent, not judged: " + comment.spent + "; ";
  judgement.finding = spent.empty() ? Finding::no_data : Finding::spent;
  const ClaimReading* const reading = figure == nullptr ? nullptr : figure->reading_of(claim.id);
  if (reading == nullptr) {
    judgement.modelled.reason = judgement.measured.reason = fmt::format(
        "no data: docs/claims/figures does not say where to read {}, of "
        "figure {} of {}",
        claim.id, claim.figure, claim.paper);
    judgement.reason = spent + judgement.modelled.reason;
    return judgement;
  }
  judgement.modelled = judge(claim, *figure, *reading, observations, Origin::modelled);
  judgement.measured = judge(claim, *figure, *reading, observations, Origin::measured);
  const bool modelled = judgement.modelled.finding != Finding::no_data;
  const bool measured = judgement.measured.finding != Finding::no_data;
  if (!modelled && !measured) {
    judgement.reason = spent + judgement.modelled.reason + "; " + judgement.measured.reason;
    return judgement;
  }
  const Outcome& basis = modelled ? judgement.modelled : judgement.measured;
  judgement.finding = spent.empty() ? basis.finding : Finding::spent;
  judgement.reason = fmt::format("{}{}: {}", spent,
                                 modelled ? "modelled" : "measured, not modelled", basis.reason);
  for (const std::string& said :
       {judgement.verdict() != Verdict::within ? comment.finding : "", comment.remark}) {
    judgement.reason += said.empty() ? "" : "; " + said;
    judgement.because += (judgement.because.empty() || said.empty() ? "" : " ") + said;
  }
  if (!modelled || !measured) {
    judgement.reason += "; " + (modelled ? judgement.measured : judgement.modelled).reason;
  }
  return judgement;
}

}  // namespace remora::figures
