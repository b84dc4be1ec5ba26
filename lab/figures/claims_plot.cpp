#include "lab/figures/claims_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <tuple>

#include "lab/figures/html_text.h"

namespace remora::figures {
namespace {

constexpr double plot_width = 1000;
constexpr double axis_left = 330;
constexpr double axis_right = 970;
constexpr double row_height = 46;
constexpr double rows_top = 34;
constexpr double apart = 11;  // the three of a row, one below the other

bool has_numbers(const Judgement& judgement) {
  return judgement.claim.best.has_value() &&
         (judgement.modelled.best.has_value() || judgement.measured.best.has_value());
}

// The least and the greatest of all that is shown. Where intervals reach beyond, they end there.
struct Reach {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void take(std::optional<double> value) {
    if (value) {
      low = std::min(low, *value);
      high = std::max(high, *value);
    }
  }
};

Reach reach_of(const std::vector<const Judgement*>& judgements) {
  Reach reach;
  bool ratios = false;
  for (const Judgement* judgement : judgements) {
    reach.take(judgement->claim.worst);
    reach.take(judgement->claim.best);
    for (const Outcome& outcome : {judgement->modelled, judgement->measured}) {
      reach.take(outcome.worst);
      reach.take(outcome.best);
    }
    ratios |= judgement->claim.metric.ends_with("_ratio");
  }
  if (ratios) {
    reach.take(1.0);  // where there is no effect
  }
  return reach;
}

// Ratios of half and of twice are as far from 1.
class Axis {
 public:
  explicit Axis(Reach reach) : low_(reach.low), high_(reach.high), log_(reach.low > 0) {
    const double room = log_ ? std::pow(high_ / low_, 0.04) : (high_ - low_) * 0.04;
    low_ = log_ ? low_ / std::max(room, 1.02) : low_ - std::max(room, 0.01);
    high_ = log_ ? high_ * std::max(room, 1.02) : high_ + std::max(room, 0.01);
  }

  double x_of(double value) const {
    const double part =
        log_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return axis_left + (axis_right - axis_left) * std::clamp(part, 0.0, 1.0);
  }
  // Round numbers, four or more of them, as far apart as their names need.
  std::vector<double> marks() const {
    double step = 1e6;
    for (int i = 1; step > 1e-6 && (high_ - low_) / step < 4; ++i) {
      step *= i % 3 == 2 ? 0.4 : 0.5;  // 1, 0.5, 0.2, 0.1
    }
    std::vector<double> marks;
    double last_x = -HUGE_VAL;
    for (double count = std::ceil(low_ / step); count * step <= high_; ++count) {
      if (x_of(count * step) >= last_x + 56) {
        marks.push_back(count * step);
        last_x = x_of(count * step);
      }
    }
    return marks;
  }

 private:
  double low_;
  double high_;
  bool log_;
};

std::string text(double x, double y, std::string_view anchor, std::string_view css,
                 const std::string& said) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n",
                     x, y, anchor, css, escaped(said));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view css) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, css);
}

std::string dot(double x, double y, std::string_view css) {
  return css == "paper"
             ? fmt::format("<path d=\"M{:.1f} {:.1f}l6 6l-6 6l-6 -6z\" class=\"paper\"/>\n", x,
                           y - 6)
             : fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" class=\"{}\"/>\n", x, y,
                           css);
}

// A range from its worst to its best point, or one number; with where it lies by its seeds.
std::string bar(const Axis& axis, double y, std::string_view css, double worst, double best,
                const std::optional<Interval>& at_worst, const std::optional<Interval>& at_best) {
  std::string svg = line(axis.x_of(worst), y, axis.x_of(best), y, fmt::format("{} range", css));
  for (const std::optional<Interval>& interval : {at_worst, at_best}) {
    if (interval && interval->seeds > 1) {
      svg += line(axis.x_of(interval->low), y, axis.x_of(interval->high), y,
                  fmt::format("{} seeds", css));
    }
  }
  svg += dot(axis.x_of(worst), y, css);
  return best == worst ? svg : svg + dot(axis.x_of(best), y, css);
}

std::string row(const Axis& axis, const Judgement& judgement, double y) {
  const Claim& claim = judgement.claim;
  std::string svg = text(axis_left - 14, y + 4, "end", "what", about(claim));
  svg += text(axis_left - 14, y + 18, "end", "where", claim.id + ", " + claim.workload);
  svg += bar(axis, y - apart, "paper", *claim.worst, *claim.best, {}, {});
  for (const auto& [outcome, css, below] : {std::tuple(&judgement.modelled, "modelled", 0.0),
                                            std::tuple(&judgement.measured, "measured", apart)}) {
    if (outcome->best) {
      svg += bar(axis, y + below, css, *outcome->worst, *outcome->best, outcome->worst_interval,
                 outcome->best_interval);
    }
  }
  return svg;
}

std::string legend(bool measured) {
  std::string svg =
      dot(axis_left + 6, 12, "paper") + text(axis_left + 18, 16, "start", "what", "the paper");
  svg += dot(axis_left + 116, 12, "modelled") +
         text(axis_left + 128, 16, "start", "what", "modelled, with 95% by seeds");
  if (measured) {
    svg += dot(axis_left + 346, 12, "measured") +
           text(axis_left + 358, 16, "start", "what", "measured on this machine");
  }
  return svg;
}

}  // namespace

std::string about(const Claim& claim) {
  std::string metric = claim.metric;
  if (metric.ends_with("_ratio")) {
    metric.resize(metric.size() - std::string_view("_ratio").size());
  }
  std::ranges::replace(metric, '_', ' ');
  return claim.versus ? fmt::format("{} of {} / {}", metric, claim.subject, *claim.versus)
                      : fmt::format("{} of {}", metric, claim.subject);
}

std::string claims_plot(const std::vector<const Judgement*>& judgements) {
  std::vector<const Judgement*> shown;
  std::ranges::copy_if(judgements, std::back_inserter(shown),
                       [](const Judgement* judgement) { return has_numbers(*judgement); });
  if (shown.empty()) {
    return "";
  }
  const Axis axis(reach_of(shown));
  const double bottom = rows_top + row_height * static_cast<double>(shown.size());
  const bool measured = std::ranges::any_of(
      shown, [](const Judgement* judgement) { return judgement->measured.best.has_value(); });
  std::string svg = fmt::format(
      "<svg class=\"claims\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"claims: paper, model and measurement\">\n",
      plot_width, bottom + 30);
  svg += legend(measured);
  for (const double mark : axis.marks()) {
    svg += line(axis.x_of(mark), rows_top, axis.x_of(mark), bottom,
                std::abs(mark - 1) < 1e-9 ? "one" : "grid");
    svg += text(axis.x_of(mark), bottom + 18, "middle", "where", number_text(mark));
  }
  double y = rows_top + row_height / 2;
  for (const Judgement* judgement : shown) {
    svg += row(axis, *judgement, y);
    svg += line(20, y + row_height / 2, axis_right, y + row_height / 2, "grid");
    y += row_height;
  }
  return svg + "</svg>\n";
}

}  // namespace remora::figures
