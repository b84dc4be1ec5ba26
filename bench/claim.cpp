#include "bench/claim.h"

#include <fmt/format.h>

namespace remora::bench {
namespace {

nlohmann::ordered_json to_json(const Spread& spread) {
  return {{"median", spread.median}, {"p10", spread.low}, {"p90", spread.high}};
}

std::string time_text(const Spread& spread) {
  const double unit_ns = spread.median < 10e3 ? 1 : spread.median < 10e6 ? 1e3 : 1e6;
  const char* unit = unit_ns == 1 ? "ns" : unit_ns == 1e3 ? "us" : "ms";
  return fmt::format("{:.4g} {} ({:.4g}..{:.4g})", spread.median / unit_ns, unit,
                     spread.low / unit_ns, spread.high / unit_ns);
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::met:
      return "met";
    case Verdict::missed:
      return "missed";
    case Verdict::unclear:
      return "unclear";
    case Verdict::no_target:
      return "no target";
    case Verdict::skipped:
      return "skipped";
  }
  return "unknown";
}

Verdict Claim::verdict() const {
  if (!skipped_since.empty()) {
    return Verdict::skipped;
  }
  if (!wording.target_ratio) {
    return Verdict::no_target;
  }
  if (ratio_median.high <= *wording.target_ratio) {
    return Verdict::met;
  }
  return ratio_median.low > *wording.target_ratio ? Verdict::missed : Verdict::unclear;
}

Claim compare(Wording wording, std::span<const double> obtained_ns,
              std::span<const double> limit_ns) {
  const std::vector<double> ratio = ratios(obtained_ns, limit_ns);
  return {std::move(wording),
          spread_of({obtained_ns.begin(), obtained_ns.end()}),
          spread_of({limit_ns.begin(), limit_ns.end()}),
          spread_of(ratio),
          median_interval(ratio),
          {},
          {}};
}

Claim skip(Wording wording, std::string since) {
  return {std::move(wording), {}, {}, {}, {}, {}, std::move(since)};
}

nlohmann::ordered_json to_json(const Claim& claim) {
  if (claim.verdict() == Verdict::skipped) {
    return {{"id", claim.wording.id},
            {"claim", claim.wording.says},
            {"limit", claim.wording.limit},
            {"verdict", to_string(claim.verdict())},
            {"since", claim.skipped_since}};
  }
  nlohmann::ordered_json json = {
      {"id", claim.wording.id},       {"claim", claim.wording.says},
      {"kind", "measured"},           {"obtained_ns", to_json(claim.obtained_ns)},
      {"limit", claim.wording.limit}, {"limit_ns", to_json(claim.limit_ns)},
      {"ratio", to_json(claim.ratio)}};
  json["ratio"]["median_low"] = claim.ratio_median.low;
  json["ratio"]["median_high"] = claim.ratio_median.high;
  json["target_ratio"] = claim.wording.target_ratio
                             ? nlohmann::ordered_json(*claim.wording.target_ratio)
                             : nlohmann::ordered_json();
  json["verdict"] = to_string(claim.verdict());
  json["beside"] = nlohmann::ordered_json::object();
  for (const auto& [name, value] : claim.beside) {
    json["beside"][name] = value;
  }
  return json;
}

std::string to_text(const Claim& claim) {
  const Wording& wording = claim.wording;
  if (claim.verdict() == Verdict::skipped) {
    return fmt::format("{} ({})\n  skipped: {}\n", wording.says, wording.id, claim.skipped_since);
  }
  const std::string target =
      wording.target_ratio ? fmt::format(", target {:.2f}", *wording.target_ratio) : "";
  std::string text = fmt::format(
      "{} ({})\n  {}: ratio {:.3f} (95 % sure {:.3f}..{:.3f}, rounds {:.3f}..{:.3f}){}\n",
      wording.says, wording.id, to_string(claim.verdict()), claim.ratio.median,
      claim.ratio_median.low, claim.ratio_median.high, claim.ratio.low, claim.ratio.high, target);
  text += fmt::format("  measured: {}, limit {}: {}\n", time_text(claim.obtained_ns),
                      time_text(claim.limit_ns), wording.limit);
  for (const auto& [name, value] : claim.beside) {
    const char* before = &name == &claim.beside.front().first ? "  measured: " : ", ";
    text += fmt::format("{}{} {:.4g}", before, name, value);
  }
  return claim.beside.empty() ? text : text + "\n";
}

}  // namespace remora::bench
