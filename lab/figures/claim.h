// Claim: one statement of a paper about its measurements, as docs/claims/claims.json has it.
//
// Ratios are subject / versus. By kind:
//   point   one number: worst and best are the same
//   range   over the sweep, from worst to best in the sense of `better`; a file may have its ends
//           the other way round, as a text that says "from 33 % to 59 %", and the sense tells
//   upto    never worse than worst anywhere, best at the best point
//   match   one number, judged from both sides: worst and best are the same, and it has no `better`
//   shape   a statement about the curve, told in the note; it has neither numbers nor `better`
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remora::figures {

enum class ClaimKind { point, range, upto, match, shape };
enum class Better { higher, lower };

struct Claim {
  std::string id;
  std::string paper;
  std::string figure;
  std::string workload;
  std::string metric;
  std::string subject;
  std::optional<std::string> versus;
  ClaimKind kind = ClaimKind::point;
  std::optional<Better> better;  // none for shapes, as are the next two, and for matches
  std::optional<double> worst;
  std::optional<double> best;
  std::string note;
  bool is_ours = true;  // its subject is a design of the paper, which may be better than published
};

// Reads a claims file. Refuses, with a message that names the claim: unknown fields, a kind or
// sense that is none, ids that occur twice, numbers where none belong or none where they do, an
// upto whose worst is better than its best, and a point or match whose two differ.
Result<std::vector<Claim>> parse_claims(std::string_view text);

std::string_view to_string(ClaimKind kind);
std::string_view to_string(Better better);

// A number as people read it: at most four digits that mean something.
std::string number_text(double value);

// What the paper said, in short: "0.98", "1.42 to 3.79", "up to 1.05, never worse than 1"; for a
// shape its note.
std::string said(const Claim& claim);

}  // namespace remora::figures
