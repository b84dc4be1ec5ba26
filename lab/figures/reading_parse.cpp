#include "lab/figures/reading_parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/figures/json_fields.h"

namespace remora::figures {
namespace {

using nlohmann::json;

Quantity quantity_of(Fields& fields) {
  const std::string text = fields.text_or("of", "value");
  constexpr std::pair<const char*, Quantity> names[] = {{"value", Quantity::value},
                                                        {"share", Quantity::share},
                                                        {"growth", Quantity::growth},
                                                        {"increase", Quantity::increase},
                                                        {"efficiency", Quantity::efficiency}};
  for (const auto& [name, quantity] : names) {
    if (text == name) {
      return quantity;
    }
  }
  fields.complain(fmt::format("takes '{}', which is no quantity", text));
}

template <typename T>
void check_known(const std::vector<std::string>& names, const std::vector<T>& specs,
                 const char* what, const Fields& fields) {
  for (const std::string& name : names) {
    if (std::none_of(specs.begin(), specs.end(), [&](const T& spec) { return spec.id == name; })) {
      fields.complain(fmt::format("names the {} '{}', which the figure does not have", what, name));
    }
  }
}

std::optional<std::pair<double, double>> sweep_of(const Figure& figure, Fields& fields) {
  if (!fields.has("x")) {
    return std::nullopt;
  }
  const json& ends = fields.array("x");
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) {
    fields.complain("needs two numbers as x, from and to");
  }
  const std::pair<double, double> sweep{ends[0].get<double>(), ends[1].get<double>()};
  const auto [low, high] = std::minmax(sweep.first, sweep.second);
  const std::vector<double>& positions = figure.x.positions;
  if (std::none_of(positions.begin(), positions.end(),
                   [low = low, high = high](double x) { return low <= x && x <= high; })) {
    fields.complain("has a sweep that holds no x of the axis");
  }
  return sweep;
}

void check_ends(const Figure& figure, const Reading& reading, const Fields& fields) {
  if (reading.of == Quantity::value || reading.of == Quantity::share || !reading.x) {
    return;
  }
  for (const double end : {reading.x->first, reading.x->second}) {
    if (std::find(figure.x.positions.begin(), figure.x.positions.end(), end) ==
        figure.x.positions.end()) {
      fields.complain(fmt::format("grows from or to {}, which is not on the x axis", end));
    }
  }
}

Reading parse_reading(const Figure& figure, Fields& fields) {
  Reading reading;
  reading.of = quantity_of(fields);
  reading.panels = fields.texts("panels");
  reading.subjects = fields.texts("subject");
  reading.versus = fields.texts("versus");
  reading.part = fields.text_or("part", "");
  reading.x = sweep_of(figure, fields);
  if (reading.subjects.empty()) {
    fields.complain("needs a subject");
  }
  check_known(reading.panels, figure.panels, "panel", fields);
  check_known(reading.subjects, figure.series, "series", fields);
  check_known(reading.versus, figure.series, "series", fields);
  if ((reading.of == Quantity::share) == reading.part.empty()) {
    fields.complain("needs a part if it takes a share, and none if not");
  }
  if (!reading.part.empty()) {
    check_known({reading.part}, figure.parts, "part", fields);
  }
  check_ends(figure, reading, fields);
  return reading;
}

Trend trend_of(Fields& fields) {
  const std::string text = fields.text_or("trend", "");
  if (text == "falls") {
    return Trend::falls;
  }
  if (text == "rises") {
    return Trend::rises;
  }
  if (!text.empty()) {
    fields.complain(fmt::format("has the trend '{}'; say falls or rises", text));
  }
  return Trend::any;
}

Condition parse_condition(const Figure& figure, const json& object, const std::string& where) {
  Fields fields(object, where + ", condition");
  Condition condition;
  condition.says = fields.text("says");
  condition.reading = parse_reading(figure, fields);
  condition.above = fields.maybe_number("above");
  condition.below = fields.maybe_number("below");
  condition.at_least = fields.maybe_number("at_least");
  condition.at_most = fields.maybe_number("at_most");
  condition.trend = trend_of(fields);
  fields.finish();
  if (!condition.above && !condition.below && !condition.at_least && !condition.at_most &&
      condition.trend == Trend::any) {
    fields.complain("has no bound, so nothing could break it");
  }
  return condition;
}

}  // namespace

ClaimReading parse_claim_reading(const Figure& figure, const json& object,
                                 const std::string& where) {
  Fields fields(object, fmt::format("{}, reading of {}", where,
                                    object.value("claim", json("no claim")).dump()));
  ClaimReading reading;
  reading.claim = fields.text("claim");
  if (fields.has("conditions")) {
    for (const json& condition : fields.array("conditions")) {
      reading.conditions.push_back(parse_condition(figure, condition, fields.where()));
    }
  } else {
    reading.reading = parse_reading(figure, fields);
  }
  fields.finish();
  return reading;
}

}  // namespace remora::figures
