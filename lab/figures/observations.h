// Observations: what was modelled and measured, point by point of the figures.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lab/figures/figure.h"

namespace remora::figures {

enum class Origin {
  modelled,  // in virtual time, by the paper's hardware profile
  measured,  // in real time, on this machine
};
std::string_view to_string(Origin origin);

// One point of a figure.
struct Point {
  std::string panel;
  std::string series;
  std::string part;  // in a stacked figure, else empty
  double x = 0;

  auto operator<=>(const Point&) const = default;
};

// What was seen there, in the unit of the panel, and how far repeats lay from it.
struct Sample {
  double value = 0;
  double low = 0;  // of the repeats; the value itself if there was one run
  double high = 0;
  std::vector<double> by_seed = {};  // of each run; empty if there was one
  bool is_burst = false;             // modelled, and work piled up all the time
  double persistent_share = 1;       // modelled: of what was put, in the end

  static Sample once(double value) { return {.value = value, .low = value, .high = value}; }
  bool operator==(const Sample&) const = default;
};

// Not to be used by two threads at once.
class Observations {
 public:
  // Fails with invalid_argument where the figure has no such point, or the sample is not a number,
  // negative, or out of its own spread. A second sample of a point replaces the first.
  Status add(const Figure& figure, Origin origin, const Point& point, const Sample& sample);

  // Null where there is none. Valid until the next add.
  const Sample* find(const Figure& figure, Origin origin, const Point& point) const;

  // Why samples of this origin are missing from the figure, for those who ask for them. Only the
  // first cause of each is kept.
  void explain(const Figure& figure, Origin origin, const std::string& cause);
  // Empty where nobody said.
  std::string cause(const Figure& figure, Origin origin) const;

  bool any(const Figure& figure, Origin origin) const;
  bool empty() const { return samples_.empty(); }

 private:
  using Key = std::tuple<std::string, Origin, Point>;  // figure, origin, point
  std::map<Key, Sample> samples_;
  std::map<std::pair<std::string, Origin>, std::string> causes_;  // by figure and origin
};

}  // namespace remora::figures
