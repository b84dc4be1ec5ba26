#include "lab/figures/claim.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "lab/figures/json_fields.h"

namespace remora::figures {
namespace {

using nlohmann::json;

ClaimKind claim_kind_of(Fields& fields) {
  const std::string text = fields.text("kind");
  for (const ClaimKind kind :
       {ClaimKind::point, ClaimKind::range, ClaimKind::upto, ClaimKind::match, ClaimKind::shape}) {
    if (text == to_string(kind)) {
      return kind;
    }
  }
  fields.complain(fmt::format("has the kind '{}'; say point, range, upto, match or shape", text));
}

std::optional<Better> better_of(Fields& fields) {
  const std::optional<std::string> text = fields.maybe_text("better");
  if (!text) {
    return std::nullopt;
  }
  for (const Better better : {Better::higher, Better::lower}) {
    if (*text == to_string(better)) {
      return better;
    }
  }
  fields.complain(fmt::format("has better '{}'; say higher, lower or null", *text));
}

// Whether the worst is no better than the best.
bool ordered(const Claim& claim) {
  return *claim.better == Better::higher ? *claim.worst <= *claim.best
                                         : *claim.worst >= *claim.best;
}

void check(const Claim& claim, const Fields& fields) {
  if (claim.kind == ClaimKind::shape) {
    if (claim.better || claim.worst || claim.best) {
      fields.complain("is a shape, which has no better, worst or best");
    }
    if (claim.note.empty()) {
      fields.complain("is a shape, whose note must say which");
    }
    return;
  }
  const bool is_match = claim.kind == ClaimKind::match;
  if (is_match && claim.better) {
    fields.complain("is a match, which has no better");
  }
  if ((!is_match && !claim.better) || !claim.worst || !claim.best) {
    fields.complain(is_match ? "needs worst and best" : "needs better, worst and best");
  }
  if (claim.kind == ClaimKind::upto && !ordered(claim)) {
    fields.complain("has a worst that is better than its best");
  }
  if ((claim.kind == ClaimKind::point || is_match) && *claim.worst != *claim.best) {
    fields.complain(
        fmt::format("is a {}, whose worst and best are the same", to_string(claim.kind)));
  }
}

Claim parse_claim(const json& object) {
  Fields fields(object, fmt::format("claim {}", object.value("id", json("without an id")).dump()));
  Claim claim;
  claim.id = fields.text("id");
  claim.paper = fields.text("paper");
  claim.figure = fields.text("figure");
  claim.workload = fields.text("workload");
  claim.metric = fields.text("metric");
  claim.subject = fields.text("subject");
  claim.versus = fields.maybe_text("versus");
  claim.kind = claim_kind_of(fields);
  claim.better = better_of(fields);
  claim.worst = fields.maybe_number("worst");
  claim.best = fields.maybe_number("best");
  claim.note = fields.text_or("note", "");
  fields.finish();
  check(claim, fields);
  if (claim.kind == ClaimKind::range && !ordered(claim)) {
    std::swap(claim.worst, claim.best);
  }
  return claim;
}

}  // namespace

Result<std::vector<Claim>> parse_claims(std::string_view text) {
  return parse_json("claims.json", text, [](const json& file) {
    Fields fields(file, "the file");
    fields.object("about");
    std::vector<Claim> claims;
    std::set<std::string> ids;
    for (const json& object : fields.array("claims")) {
      claims.push_back(parse_claim(object));
      if (!ids.insert(claims.back().id).second) {
        fields.complain(fmt::format("has two claims '{}'", claims.back().id));
      }
    }
    fields.finish();
    return claims;
  });
}

std::string_view to_string(ClaimKind kind) {
  switch (kind) {
    case ClaimKind::point:
      return "point";
    case ClaimKind::range:
      return "range";
    case ClaimKind::upto:
      return "upto";
    case ClaimKind::match:
      return "match";
    case ClaimKind::shape:
      return "shape";
  }
  return "";
}

std::string_view to_string(Better better) {
  return better == Better::higher ? "higher" : "lower";
}

std::string number_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string said(const Claim& claim) {
  switch (claim.kind) {
    case ClaimKind::point:
    case ClaimKind::match:
      return number_text(*claim.best);
    case ClaimKind::range:
      return fmt::format("{} to {}", number_text(*claim.worst), number_text(*claim.best));
    case ClaimKind::upto:
      return fmt::format("up to {}, never worse than {}", number_text(*claim.best),
                         number_text(*claim.worst));
    case ClaimKind::shape:
      return claim.note;
  }
  return "";
}

}  // namespace remora::figures
