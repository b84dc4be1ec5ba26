// The verdict on a claim: does what we got bear out what the paper said? Pure functions. How
// numbers are compared is in compare.h; which numbers, by kind:
//
//   point, match   the one of the sweep, or their geometric mean (their mean, should one not be
//                  positive)
//   range, upto    the worst point and the best one
//   shape          the statement agrees if it holds at every seed, contradicts if it does not hold
//   of
//                  all seeds together, and else is too close to tell
//
// Of two ends the one that says less for the claim counts. "Ours is better" is said only where
// every rival stands within 20% of its own published number, where the figure's file has one. An
// incomplete sweep has no outcome, no_data: a claim that has none at all is short, and the reason
// says what is missing and why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/figures/claim.h"
#include "lab/figures/compare.h"
#include "lab/figures/figure.h"
#include "lab/figures/numbers.h"
#include "lab/figures/observations.h"

namespace remora::figures {

// What a finding is in one of three words: agrees is within, ours is better is beyond, all others
// are short.
enum class Verdict { within, beyond, short_of, no_data };  // no_data of an outcome alone
Verdict verdict_of(Finding finding);
// "within", "beyond", "short", "no data".
std::string_view to_string(Verdict verdict);

struct Outcome {
  Finding finding = Finding::no_data;
  // Our numbers: the same for a point, none for a shape and where there is no data.
  std::optional<double> worst = {};
  std::optional<double> best = {};
  std::optional<Interval> worst_interval = {};  // of these two
  std::optional<Interval> best_interval = {};
  std::optional<bool> holds = {};  // of a shape
  std::string reason = {};

  Verdict verdict() const { return verdict_of(finding); }
};

// Of a claim that is no shape. Without numbers the outcome is no_data.
Outcome judge_numbers(const Claim& claim, std::span<const Number> numbers);

// What `observations` of this origin say of `claim`, which `figure` reads by `reading`.
Outcome judge(const Claim& claim, const Figure& figure, const ClaimReading& reading,
              const Observations& observations, Origin origin);

// What we got, in short: "0.97", "1.5 to 3.6", "holds", "no data".
std::string got(const Outcome& outcome);

// Both outcomes of one claim. The verdict is that of the modelled one, since the model has the
// hardware of the paper; where there is none, that of the measured one, and the reason says so. A
// claim that is spent is listed with what we got, and has no verdict but that.
struct Judgement {
  Claim claim;
  Outcome modelled;
  Outcome measured;
  Finding finding = Finding::no_data;
  std::string reason;   // all there is to say
  std::string because;  // of that, what people found to be the cause, and what to know

  Verdict verdict() const {
    return finding == Finding::no_data ? Verdict::short_of : verdict_of(finding);
  }
};

// What people have to say about a claim, beside what the judge finds.
struct Comment {
  std::string finding = {};  // the cause of a verdict other than within; said with such a one
  std::string remark = {};   // what to know of our numbers; said with every verdict
  std::string spent = {};    // which profile was set by the claim's number: it is not judged
};

// `figure` is the claim's, or null if no file of figures has it.
Judgement judge_claim(const Claim& claim, const Figure* figure, const Observations& observations,
                      const Comment& comment);

}  // namespace remora::figures
