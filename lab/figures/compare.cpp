#include "lab/figures/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace remora::figures {
namespace {

constexpr double rounded = 0.005 + 1e-9;  // half of the last digit that papers print
constexpr double effect_tolerance = 0.25;
constexpr double match_tolerance = 0.20;

double effect_of(const Claim& claim, double value) {
  return claim.metric.ends_with("_ratio") ? value - 1 : value;
}

int sign_of(double effect) {
  return std::abs(effect) <= rounded ? 0 : effect > 0 ? 1 : -1;
}

// How much better than the paper's, in the sense of the claim.
double gain(const Claim& claim, double paper, double ours) {
  return *claim.better == Better::higher ? ours - paper : paper - ours;
}

Finding compare_match(double paper, double ours) {
  return std::abs(ours - paper) <= match_tolerance * std::abs(paper) + 1e-9 ? Finding::agrees
                                                                            : Finding::differs;
}

Finding compare_one(const Claim& claim, End end, double paper, double ours) {
  if (claim.kind == ClaimKind::match) {
    return compare_match(paper, ours);
  }
  const double published = effect_of(claim, paper);
  const double got = effect_of(claim, ours);
  const double better_by = gain(claim, paper, ours);
  if (claim.kind == ClaimKind::upto && end == End::worst && better_by >= -rounded) {
    return Finding::agrees;
  }
  if (std::abs(got - published) <=
      std::max(rounded, effect_tolerance * std::abs(published) + 1e-9)) {
    return Finding::agrees;
  }
  const int signs = sign_of(got) * sign_of(published);
  if (better_by > 0 && signs >= 0 && claim.is_ours) {
    return Finding::better;
  }
  return signs < 0 ? Finding::contradicts : Finding::differs;
}

// 97.5% of Student's distribution, by degrees of freedom from 1 on.
constexpr std::array student = {12.706, 4.303, 3.182, 2.776, 2.571,
                                2.447,  2.365, 2.306, 2.262, 2.228};

}  // namespace

std::string_view to_string(Finding finding) {
  switch (finding) {
    case Finding::agrees:
      return "agrees";
    case Finding::better:
      return "ours is better";
    case Finding::differs:
      return "differs";
    case Finding::contradicts:
      return "contradicts";
    case Finding::too_close:
      return "too close to tell";
    case Finding::spent:
      return "spent";
    case Finding::no_data:
      return "no data";
  }
  return "";
}

Interval interval_of(double value, std::span<const double> by_seed) {
  const std::size_t count = by_seed.size();
  if (count < 2) {
    return {value, value, value, std::max<std::size_t>(count, 1)};
  }
  double sum = 0;
  for (const double one : by_seed) {
    sum += one;
  }
  const double mean = sum / static_cast<double>(count);
  double squares = 0;
  for (const double one : by_seed) {
    squares += (one - mean) * (one - mean);
  }
  const double deviation = std::sqrt(squares / static_cast<double>(count - 1));
  const double factor = count - 2 < student.size() ? student[count - 2] : 2.0;
  const double half = factor * deviation / std::sqrt(static_cast<double>(count));
  return {value, value - half, value + half, count};
}

Finding compare(const Claim& claim, End end, double paper, const Interval& ours) {
  const bool holds = ours.low <= paper && paper <= ours.high;
  if (ours.seeds > 1 && claim.kind != ClaimKind::match && holds &&
      ours.high - ours.low <= 0.5 * std::abs(effect_of(claim, paper))) {
    return Finding::agrees;
  }
  const Finding finding = compare_one(claim, end, paper, ours.value);
  const bool is_clear = compare_one(claim, end, paper, ours.low) == finding &&
                        compare_one(claim, end, paper, ours.high) == finding;
  return is_clear ? finding : Finding::too_close;
}

std::string difference_text(const Claim& claim, double paper, double ours) {
  const double published = effect_of(claim, paper);
  const double got = effect_of(claim, ours);
  if (claim.kind == ClaimKind::match || sign_of(published) == 0) {
    return fmt::format("by {:+.0f}%", 100 * (ours - paper) / paper);
  }
  return fmt::format("{:.2g} of the effect", got / published);
}

}  // namespace remora::figures
