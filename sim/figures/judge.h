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
// failed, where and by how much. An incomplete sweep gets no verdict at all: no_data, never
// "within".
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

enum class Verdict { within, beyond, short_of, no_data };
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
// hardware of the paper; where there is none, that of the measured one, and the reason says so.
struct Judgement {
  Claim claim;
  Outcome modelled;
  Outcome measured;
  Verdict verdict = Verdict::no_data;
  std::string reason;
};

// `figure` is the claim's, or null if no file of figures has it. `finding` is the cause that people
// found; it is added to the reason of a verdict other than within.
Judgement judge_claim(const Claim& claim, const Figure* figure, const Observations& observations,
                      const std::string& finding);

}  // namespace remora::figures
