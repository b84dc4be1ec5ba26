// How one number of ours compares with one of a paper's: the rules that docs/claims/claims.json has
// under "about". Pure functions.
//
// What is compared are effects: for a ratio, how far it is from 1; for another metric, the number
// itself. A published number has been rounded: an effect, or a difference of two, of up to half of
// a hundredth is none.
//
//   agrees        same sign, and within 25% of the effect; or the interval over the seeds holds the
//                 published number, and is no wider than half of the effect
//   better        same sign and more of the effect than agrees, in the sense of the claim, where
//   the
//                 subject is a design of the paper; a rival that is better than published differs
//   differs       same sign, or no effect on one side, outside of agrees
//   contradicts   the other sign
//   too close     the ends of the interval would be judged differently
//
// A match is judged from both sides: it agrees within 20% of the number, or differs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lab/figures/claim.h"

namespace remora::figures {

enum class Finding { agrees, better, differs, contradicts, too_close, spent, no_data };
// "agrees", "ours is better", "differs", "contradicts", "too close to tell", "spent", "no data".
std::string_view to_string(Finding finding);

// The number and where it lies with 95% of confidence, by its seeds.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
  std::size_t seeds = 1;

  bool operator==(const Interval&) const = default;
};
// By Student's distribution, around `value`; of one seed, the value alone.
Interval interval_of(double value, std::span<const double> by_seed);

// Which end of a claim: the worst point of an upto may be better than it was said to be.
enum class End { best, worst };

Finding compare(const Claim& claim, End end, double paper, const Interval& ours);

// By what the effect differs from the paper's, for a person: "0.31 of the effect", "12 times".
std::string difference_text(const Claim& claim, double paper, double ours);

}  // namespace remora::figures
