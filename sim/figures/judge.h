// The verdict on a claim: does what we got bear out what the paper said? Pure functions. The rules
// are those that docs/claims/claims.json has under "about":
//
//   point   within 20% of the paper's number. Where the sweep gives several numbers of ours, the
//   one
//           that is compared is their geometric mean (their mean, should one not be positive).
//   range   our worst point reaches the paper's worst within 15%, and our best its best within 20%
//   upto    no point worse than the paper's worst, and our best point reaches its best within 20%
//   shape   the statement holds
//
// "Beyond" is a claim whose other terms are met, and whose best is better than the paper's by more
// than 20%; a shape is never beyond. Everything else is short, and the reason says which term
// failed, where and by how much. An incomplete sweep has no outcome, no_data: a claim
// that has none at all is short, and the reason says what is missing and why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/figures/claim.h"
#include "sim/figures/figure.h"
#include "sim/figures/numbers.h"
#include "sim/figures/observations.h"

namespace remora::figures {

enum class Verdict { within, beyond, short_of, no_data };  // no_data of an outcome alone
// "within", "beyond", "short", "no data".
std::string_view to_string(Verdict verdict);

struct Outcome {
  Verdict verdict = Verdict::no_data;
  // Our numbers: the same for a point, none for a shape and where there is no data.
  std::optional<double> worst = {};
  std::optional<double> best = {};
  std::optional<bool> holds = {};  // of a shape
  std::string reason = {};
};

// Of a claim that is no shape. Without numbers the outcome is no_data.
Outcome judge_numbers(const Claim& claim, std::span<const Number> numbers);

// What `observations` of this origin say of `claim`, which `figure` reads by `reading`.
Outcome judge(const Claim& claim, const Figure& figure, const ClaimReading& reading,
              const Observations& observations, Origin origin);

// What we got, in short: "0.97", "1.5 to 3.6", "holds", "no data".
std::string got(const Claim& claim, const Outcome& outcome);

// Both outcomes of one claim. The verdict is that of the modelled one, since the model has the
// hardware of the paper; where there is none, that of the measured one, and the reason says so. It
// is never no_data.
struct Judgement {
  Claim claim;
  Outcome modelled;
  Outcome measured;
  Verdict verdict = Verdict::short_of;
  std::string reason;
};

// What people have to say about a claim, beside what the judge finds.
struct Comment {
  std::string finding = {};  // the cause of a verdict other than within; said with such a one
  std::string remark = {};   // what to know of our numbers; said with every verdict
};

// `figure` is the claim's, or null if no file of figures has it.
Judgement judge_claim(const Claim& claim, const Figure* figure, const Observations& observations,
                      const Comment& comment);

}  // namespace remora::figures
