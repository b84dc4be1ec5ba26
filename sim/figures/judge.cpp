#include "sim/figures/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "sim/figures/judge_shape.h"

namespace remora::figures {
namespace {

constexpr double worst_tolerance = 0.15;
constexpr double best_tolerance = 0.20;
constexpr double rounding = 1e-9;  // so that a number on the edge of a tolerance is inside

// Compares in the sense of the claim: everything below reads as if higher were better.
class Sense {
 public:
  explicit Sense(Better better) : sign_(better == Better::higher ? 1.0 : -1.0) {}

  bool worse(double a, double b) const { return sign_ * a < sign_ * b - std::abs(b) * rounding; }
  // `paper`, less or plus so much of it.
  double reached(double paper, double tolerance) const {
    return paper - sign_ * std::abs(paper) * tolerance;
  }
  double passed(double paper, double tolerance) const { return reached(paper, -tolerance); }

 private:
  double sign_;
};

// The one number of a point.
Number mean(std::span<const Number> numbers) {
  if (numbers.size() == 1) {
    return numbers.front();
  }
  const bool positive = std::all_of(numbers.begin(), numbers.end(),
                                    [](const Number& number) { return number.value > 0; });
  double sum = 0;
  for (const Number& number : numbers) {
    sum += positive ? std::log(number.value) : number.value;
  }
  const double mean = sum / static_cast<double>(numbers.size());
  const auto [least, most] =
      std::minmax_element(numbers.begin(), numbers.end(),
                          [](const Number& a, const Number& b) { return a.value < b.value; });
  return {positive ? std::exp(mean) : mean, 0, 0,
          fmt::format("{}mean of {} points, from {} ({}) to {} ({})", positive ? "geometric " : "",
                      numbers.size(), number_text(least->value), least->where,
                      number_text(most->value), most->where)};
}

class Judge {
 public:
  Judge(const Claim& claim, const Number& worst, const Number& best)
      : claim_(claim), sense_(*claim.better), worst_(worst), best_(best) {}

  Outcome outcome() const {
    Outcome outcome;
    outcome.worst = worst_.value;
    outcome.best = best_.value;
    std::string failure = worst_failure();
    if (failure.empty()) {
      failure = best_failure();
    }
    if (!failure.empty()) {
      outcome.verdict = Verdict::short_of;
      outcome.reason = failure;
      return outcome;
    }
    const double edge = sense_.passed(*claim_.best, best_tolerance);
    const bool beyond = sense_.worse(edge, best_.value);
    outcome.verdict = beyond ? Verdict::beyond : Verdict::within;
    outcome.reason =
        beyond ? fmt::format("{} is better than {} by more than 20% ({})", ours(best_),
                             number_text(*claim_.best), best_.where)
               : fmt::format("{} for {} ({})", ours_of_both(), said(claim_),
                             claim_.kind == ClaimKind::point ? best_.where : "best " + best_.where);
    return outcome;
  }

 private:
  static std::string ours(const Number& number) { return number_text(number.value); }

  std::string ours_of_both() const {
    return worst_.value == best_.value ? ours(best_)
                                       : fmt::format("{} to {}", ours(worst_), ours(best_));
  }

  std::string worst_failure() const {
    if (claim_.kind == ClaimKind::point) {
      return "";
    }
    const double tolerance = claim_.kind == ClaimKind::range ? worst_tolerance : 0.0;
    const double edge = sense_.reached(*claim_.worst, tolerance);
    if (!sense_.worse(worst_.value, edge)) {
      return "";
    }
    return fmt::format("the worst point, {} ({}), does not reach {}{}", ours(worst_), worst_.where,
                       number_text(*claim_.worst),
                       tolerance > 0 ? fmt::format(" within 15% ({})", number_text(edge)) : "");
  }

  std::string best_failure() const {
    const double edge = sense_.reached(*claim_.best, best_tolerance);
    if (!sense_.worse(best_.value, edge)) {
      return "";
    }
    return fmt::format("{}{} ({}) does not reach {} within 20% ({})",
                       claim_.kind == ClaimKind::point ? "" : "the best point, ", ours(best_),
                       best_.where, number_text(*claim_.best), number_text(edge));
  }

  const Claim& claim_;
  const Sense sense_;
  const Number& worst_;
  const Number& best_;
};

}  // namespace

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
  if (claim.kind == ClaimKind::point) {
    const Number one = mean(numbers);
    return Judge(claim, one, one).outcome();
  }
  const auto [least, most] =
      std::minmax_element(numbers.begin(), numbers.end(),
                          [](const Number& a, const Number& b) { return a.value < b.value; });
  return *claim.better == Better::higher ? Judge(claim, *least, *most).outcome()
                                         : Judge(claim, *most, *least).outcome();
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
  return judge_numbers(claim, numbers.numbers);
}

std::string got(const Claim& claim, const Outcome& outcome) {
  if (outcome.verdict == Verdict::no_data) {
    return "no data";
  }
  if (outcome.holds) {
    return *outcome.holds ? "holds" : "does not hold";
  }
  if (claim.kind == ClaimKind::point || *outcome.worst == *outcome.best) {
    return number_text(*outcome.best);
  }
  return fmt::format("{} to {}", number_text(*outcome.worst), number_text(*outcome.best));
}

Judgement judge_claim(const Claim& claim, const Figure* figure, const Observations& observations,
                      const Comment& comment) {
  Judgement judgement;
  judgement.claim = claim;
  const ClaimReading* const reading = figure == nullptr ? nullptr : figure->reading_of(claim.id);
  if (reading == nullptr) {
    judgement.reason = fmt::format(
        "no data: docs/claims/figures does not say where to read {}, of "
        "figure {} of {}",
        claim.id, claim.figure, claim.paper);
    judgement.modelled.reason = judgement.measured.reason = judgement.reason;
    return judgement;
  }
  judgement.modelled = judge(claim, *figure, *reading, observations, Origin::modelled);
  judgement.measured = judge(claim, *figure, *reading, observations, Origin::measured);
  const bool modelled = judgement.modelled.verdict != Verdict::no_data;
  const bool measured = judgement.measured.verdict != Verdict::no_data;
  if (!modelled && !measured) {
    judgement.reason = judgement.modelled.reason + "; " + judgement.measured.reason;
    return judgement;
  }
  const Outcome& basis = modelled ? judgement.modelled : judgement.measured;
  judgement.verdict = basis.verdict;
  judgement.reason =
      fmt::format("{}: {}", modelled ? "modelled" : "measured, not modelled", basis.reason);
  if (judgement.verdict != Verdict::within && !comment.finding.empty()) {
    judgement.reason += "; " + comment.finding;
  }
  if (!comment.remark.empty()) {
    judgement.reason += "; " + comment.remark;
  }
  if (!modelled || !measured) {
    judgement.reason += "; " + (modelled ? judgement.measured : judgement.modelled).reason;
  }
  return judgement;
}

}  // namespace remora::figures
