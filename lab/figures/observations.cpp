#include "lab/figures/observations.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace remora::figures {
namespace {

template <typename T>
bool has(const std::vector<T>& specs, const std::string& id) {
  return std::any_of(specs.begin(), specs.end(), [&](const T& spec) { return spec.id == id; });
}

Status wrong(const Figure& figure, const std::string& what) {
  return Status(Code::invalid_argument,
                fmt::format("figure {} has no {}; its file in docs/claims/figures says what it has",
                            figure.key(), what));
}

Status check_point(const Figure& figure, const Point& point) {
  if (!has(figure.panels, point.panel)) {
    return wrong(figure, fmt::format("panel '{}'", point.panel));
  }
  if (!has(figure.series, point.series)) {
    return wrong(figure, fmt::format("series '{}'", point.series));
  }
  if (figure.parts.empty() ? !point.part.empty() : !has(figure.parts, point.part)) {
    return wrong(figure, fmt::format("part '{}'", point.part));
  }
  const std::vector<double>& positions = figure.x.positions;
  if (std::find(positions.begin(), positions.end(), point.x) == positions.end()) {
    return wrong(figure, fmt::format("{} {}", figure.x.label, point.x));
  }
  return Status();
}

}  // namespace

std::string_view to_string(Origin origin) {
  return origin == Origin::modelled ? "modelled" : "measured";
}

Status Observations::add(const Figure& figure, Origin origin, const Point& point,
                         const Sample& sample) {
  REMORA_TRY(check_point(figure, point));
  if (!std::isfinite(sample.value) || !std::isfinite(sample.low) || !std::isfinite(sample.high) ||
      sample.low < 0 || sample.value < sample.low || sample.value > sample.high) {
    return Status(
        Code::invalid_argument,
        fmt::format("figure {}, series {}, x {}: {} between {} and {} is no sample: give "
                    "finite numbers, not negative, with low <= value <= high",
                    figure.key(), point.series, point.x, sample.value, sample.low, sample.high));
  }
  samples_.insert_or_assign(Key(figure.key(), origin, point), sample);
  return Status();
}

const Sample* Observations::find(const Figure& figure, Origin origin, const Point& point) const {
  const auto found = samples_.find(Key(figure.key(), origin, point));
  return found == samples_.end() ? nullptr : &found->second;
}

void Observations::explain(const Figure& figure, Origin origin, const std::string& cause) {
  causes_.try_emplace({figure.key(), origin}, cause);
}

std::string Observations::cause(const Figure& figure, Origin origin) const {
  const auto found = causes_.find({figure.key(), origin});
  return found == causes_.end() ? "" : found->second;
}

bool Observations::any(const Figure& figure, Origin origin) const {
  const auto found = samples_.lower_bound(Key(figure.key(), origin, Point{"", "", "", -1e308}));
  return found != samples_.end() && std::get<0>(found->first) == figure.key() &&
         std::get<1>(found->first) == origin;
}

}  // namespace remora::figures
