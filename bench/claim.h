// Claim: a sentence about speed with the numbers that support or refute it. The thing and a bare
// limit were measured side by side in one run; the claim is about their ratio, since times alone
// say more about the machine than about Remora. A claim informs; it never fails a build.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/measure.h"

namespace remora::bench {

enum class Verdict : std::uint8_t {
  met,
  missed,
  unclear,  // the rounds differ too much to tell: measure again, with more rounds or in quiet
  no_target,
  skipped,  // what it needs is not here: nothing was measured
};

std::string_view to_string(Verdict verdict);

// What is claimed, said before anything is measured.
struct Wording {
  std::string id;                      // "persist/4096": stable, for programs
  std::string says;                    // the claim, for people
  std::string limit;                   // what the bare limit is
  std::optional<double> target_ratio;  // the ratio is to be at most this
};

struct Claim {
  Wording wording;
  Spread obtained_ns;  // of one operation
  Spread limit_ns;
  Spread ratio;           // obtained / limit, round by round
  Interval ratio_median;  // where the median of the ratio lies: this decides
  std::vector<std::pair<std::string, double>> beside;  // further measured numbers, unit in the name
  std::string skipped_since;  // why nothing was measured, and what to do; else empty

  Verdict verdict() const;
};

using Claims = std::vector<Claim>;

// Compares two series of one interleave().
Claim compare(Wording wording, std::span<const double> obtained_ns,
              std::span<const double> limit_ns);

// A claim that cannot be measured here, and why.
Claim skip(Wording wording, std::string since);

nlohmann::ordered_json to_json(const Claim& claim);

// A few lines for people.
std::string to_text(const Claim& claim);

}  // namespace remora::bench
