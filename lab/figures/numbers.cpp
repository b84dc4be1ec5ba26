#include "lab/figures/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

namespace remora::figures {
namespace {

class Reader {
 public:
  // Of one seed alone, or of all together.
  Reader(const Figure& figure, const Reading& reading, const Observations& observations,
         Origin origin, std::optional<std::size_t> seed = {})
      : figure_(figure),
        reading_(reading),
        observations_(observations),
        origin_(origin),
        seed_(seed) {}

  Numbers all() {
    for (const PanelSpec& panel : figure_.panels) {
      if (!asked_for(panel.id)) {
        continue;
      }
      is_throughput_ = panel.metric.starts_with("throughput");
      for (const std::string& subject : reading_.subjects) {
        if (reading_.versus.empty()) {
          curve(panel.id, subject, "");
        }
        for (const std::string& rival : reading_.versus) {
          curve(panel.id, subject, rival);
        }
      }
    }
    return std::move(numbers_);
  }
  // Of what was read, the least that a point has; what was run but once counts for any.
  std::size_t seeds() const { return seeds_; }

 private:
  bool asked_for(const std::string& panel) const {
    return reading_.panels.empty() || std::find(reading_.panels.begin(), reading_.panels.end(),
                                                panel) != reading_.panels.end();
  }

  std::string where(const std::string& panel, const std::string& series,
                    const std::string& at) const {
    return fmt::format("{} {}{}", series, at, figure_.panels.size() > 1 ? ", " + panel : "");
  }

  std::string at(double x) const { return "at " + figure_.x_name(x); }

  void miss(std::string what) {
    if (missing_once_.insert(what).second) {
      numbers_.missing.push_back(std::move(what));
    }
  }

  std::optional<double> sample(const std::string& panel, const std::string& series,
                               const std::string& part, double x) {
    const Sample* const found = observations_.find(figure_, origin_, {panel, series, part, x});
    if (found == nullptr) {
      miss(where(panel, part.empty() ? series : part + " in " + series, at(x)));
      return std::nullopt;
    }
    if (found->is_burst && burst_once_.insert({panel, series, x}).second) {
      numbers_.bursts.push_back(where(panel, series, at(x)));
    }
    if (is_throughput_ && found->persistent_share < 1) {
      double& least = numbers_.persistent.try_emplace(series, 1).first->second;
      least = std::min(least, found->persistent_share);
    }
    const std::size_t count = found->by_seed.size();
    seeds_ = count == 0 ? seeds_ : seeds_ == 0 ? count : std::min(seeds_, count);
    return seed_ && *seed_ < count ? found->by_seed[*seed_] : found->value;
  }

  // What a bar or a point shows: the sum of its parts if it has some.
  std::optional<double> whole(const std::string& panel, const std::string& series, double x) {
    if (figure_.parts.empty()) {
      return sample(panel, series, "", x);
    }
    std::optional<double> sum = 0.0;
    for (const PartSpec& part : figure_.parts) {
      const std::optional<double> one = sample(panel, series, part.id, x);
      sum = sum && one ? std::optional(*sum + *one) : std::nullopt;
    }
    return sum;
  }

  std::optional<double> quotient(std::optional<double> over, std::optional<double> under,
                                 const std::string& what) {
    if (!over || !under) {
      return std::nullopt;
    }
    if (*under == 0) {
      miss(what + ": it is 0, and nothing can be divided by it");
      return std::nullopt;
    }
    return *over / *under;
  }

  std::optional<double> at_one_x(const std::string& panel, const std::string& series, double x) {
    const std::optional<double> all = whole(panel, series, x);
    if (reading_.of != Quantity::share) {
      return all;
    }
    return quotient(sample(panel, series, reading_.part, x), all, where(panel, series, at(x)));
  }

  std::optional<double> between(const std::string& panel, const std::string& series, double from,
                                double to) {
    const std::optional<double> first = whole(panel, series, from);
    const std::optional<double> last = whole(panel, series, to);
    if (reading_.of == Quantity::increase) {
      return first && last ? std::optional(*last - *first) : std::nullopt;
    }
    const std::optional<double> growth = quotient(last, first, where(panel, series, at(from)));
    return reading_.of == Quantity::growth
               ? growth
               : quotient(growth, to / from, "the growth of " + figure_.x.label);
  }

  template <typename Take>
  void number(const std::string& panel, const std::string& subject, const std::string& rival,
              const std::string& at, double x, Take take) {
    std::optional<double> value = take(subject);
    if (!rival.empty()) {
      value = quotient(value, take(rival), where(panel, rival, at));
    }
    if (value) {
      const std::string who = rival.empty() ? subject : subject + " / " + rival;
      numbers_.numbers.push_back(
          {.value = *value, .x = x, .curve = curve_, .where = where(panel, who, at)});
    }
  }

  void curve(const std::string& panel, const std::string& subject, const std::string& rival) {
    const std::vector<double>& positions = figure_.x.positions;
    const double from = reading_.x ? reading_.x->first : positions.front();
    const double to = reading_.x ? reading_.x->second : positions.back();
    if (reading_.of == Quantity::value || reading_.of == Quantity::share) {
      for (const double x : positions) {
        if (std::min(from, to) <= x && x <= std::max(from, to)) {
          number(panel, subject, rival, at(x), x,
                 [&](const std::string& series) { return at_one_x(panel, series, x); });
        }
      }
    } else {
      const std::string way =
          fmt::format("from {} to {}", figure_.x_name(from), figure_.x_name(to));
      number(panel, subject, rival, way, to,
             [&](const std::string& series) { return between(panel, series, from, to); });
    }
    ++curve_;
  }

  const Figure& figure_;
  const Reading& reading_;
  const Observations& observations_;
  const Origin origin_;
  const std::optional<std::size_t> seed_;
  Numbers numbers_;
  std::set<std::string> missing_once_;
  std::set<std::tuple<std::string, std::string, double>> burst_once_;
  bool is_throughput_ = false;  // the panel that is read now
  std::size_t seeds_ = 0;
  std::size_t curve_ = 0;
};

}  // namespace

std::string persistent_text(const std::map<std::string, double>& persistent) {
  std::string text;
  for (const auto& [series, share] : persistent) {
    text += fmt::format("{} {} {:.0f}%", text.empty() ? "persistent at the end:" : ",", series,
                        100 * share);
  }
  return text;
}

Numbers read(const Figure& figure, const Reading& reading, const Observations& observations,
             Origin origin) {
  Reader reader(figure, reading, observations, origin);
  Numbers together = reader.all();
  if (!together.complete() || reader.seeds() < 2) {
    return together;
  }
  for (std::size_t seed = 0; seed < reader.seeds(); ++seed) {
    const Numbers alone = Reader(figure, reading, observations, origin, seed).all();
    if (alone.numbers.size() != together.numbers.size()) {
      continue;  // one is 0, and cannot be divided by
    }
    for (std::size_t i = 0; i < together.numbers.size(); ++i) {
      together.numbers[i].by_seed.push_back(alone.numbers[i].value);
    }
  }
  return together;
}

}  // namespace remora::figures
