// parse_figures, from the top: file, figure, its parts. How claims are read is in
// reading_parse.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <set>

#include "base/size_text.h"
#include "lab/figures/figure.h"
#include "lab/figures/json_fields.h"
#include "lab/figures/reading_parse.h"

namespace remora::figures {
namespace {

using nlohmann::json;

ParameterValue parameter_value(const json& value, const Fields& fields) {
  if (value.is_boolean()) {
    return value.get<bool>();
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  if (value.is_number()) {
    return value.get<double>();
  }
  if (value.is_string()) {
    return value.get<std::string>();
  }
  fields.complain(fmt::format("has {}, which is no value of a parameter", value.dump()));
}

Parameters parameters(Fields& fields) {
  Parameters parameters;
  if (fields.has("set")) {
    for (const auto& [name, value] : fields.object("set").items()) {
      parameters.set(name, parameter_value(value, fields));
    }
  }
  return parameters;
}

Scale scale_of(Fields& fields, std::initializer_list<std::pair<const char*, Scale>> allowed) {
  const std::string text = fields.text_or("scale", "linear");
  for (const auto& [name, scale] : allowed) {
    if (text == name) {
      return scale;
    }
  }
  fields.complain(fmt::format("has the scale '{}', which it cannot have", text));
}

std::string name_of(const ParameterValue& value, const std::string& unit) {
  const std::int64_t* const integer = std::get_if<std::int64_t>(&value);
  if (unit == "bytes" && integer != nullptr && *integer >= 0) {
    return format_size(static_cast<std::uint64_t>(*integer));
  }
  return to_text(value);
}

double position_of(const ParameterValue& value, std::size_t place) {
  if (const std::int64_t* const integer = std::get_if<std::int64_t>(&value)) {
    return static_cast<double>(*integer);
  }
  const double* const number = std::get_if<double>(&value);
  return number != nullptr ? *number : static_cast<double>(place);
}

XAxis parse_x(const json& object, const std::string& where) {
  Fields fields(object, where + ", x");
  XAxis x;
  x.parameter = fields.text("parameter");
  x.label = fields.text("label");
  x.unit = fields.text_or("unit", "");
  x.scale = scale_of(fields, {{"linear", Scale::linear},
                              {"log2", Scale::log2},
                              {"log10", Scale::log10},
                              {"category", Scale::category}});
  for (const json& value : fields.array("values")) {
    x.values.push_back(parameter_value(value, fields));
    x.positions.push_back(position_of(x.values.back(), x.positions.size()));
    x.names.push_back(name_of(x.values.back(), x.unit));
  }
  if (fields.has("names")) {
    x.names = fields.texts("names");
  }
  fields.finish();
  if (x.values.empty() || x.names.size() != x.values.size()) {
    fields.complain("needs values, and as many names as values if it has names");
  }
  if (std::adjacent_find(x.positions.begin(), x.positions.end(), std::greater_equal<>()) !=
      x.positions.end()) {
    fields.complain("needs values that ascend");
  }
  if ((x.scale == Scale::log2 || x.scale == Scale::log10) && x.positions.front() <= 0) {
    fields.complain("is logarithmic, and needs values above 0");
  }
  return x;
}

SeriesSpec parse_series(const json& object, const std::string& where) {
  Fields fields(object, where + ", series");
  SeriesSpec series{fields.text("id"), fields.text("label"), parameters(fields)};
  fields.finish();
  return series;
}

PartSpec parse_part(const json& object, const std::string& where) {
  Fields fields(object, where + ", part");
  PartSpec part{fields.text("id"), fields.text("label")};
  fields.finish();
  return part;
}

PanelSpec parse_panel(const json& object, const std::string& where) {
  Fields fields(object, where + ", panel");
  PanelSpec panel;
  panel.id = fields.text("id");
  panel.title = fields.text_or("title", "");
  panel.metric = fields.text("metric");
  panel.label = fields.text("label");
  panel.unit = fields.text("unit");
  panel.scale = scale_of(fields, {{"linear", Scale::linear}, {"log10", Scale::log10}});
  panel.set = parameters(fields);
  fields.finish();
  return panel;
}

FigureKind figure_kind_of(Fields& fields) {
  const std::string text = fields.text("kind");
  if (text == "lines") {
    return FigureKind::lines;
  }
  if (text == "bars") {
    return FigureKind::bars;
  }
  if (text == "stacked") {
    return FigureKind::stacked;
  }
  fields.complain(fmt::format("has the kind '{}'; say lines, bars or stacked", text));
}

template <typename T, typename Parse>
std::vector<T> parse_list(Fields& fields, const std::string& name, Parse parse) {
  std::vector<T> list;
  std::set<std::string> ids;
  for (const json& object : fields.array(name)) {
    list.push_back(parse(object, fields.where()));
    if (!ids.insert(list.back().id).second) {
      fields.complain(fmt::format("has '{}' twice among its {}", list.back().id, name));
    }
  }
  if (list.empty()) {
    fields.complain(fmt::format("needs {}", name));
  }
  return list;
}

void check_kind(const Figure& figure, const Fields& fields) {
  if (figure.kind != FigureKind::lines && figure.x.scale != Scale::category) {
    fields.complain("has bars, which need an x axis of the scale 'category'");
  }
  for (const PanelSpec& panel : figure.panels) {
    if (figure.kind == FigureKind::stacked && panel.scale != Scale::linear) {
      fields.complain("is stacked, which a logarithmic axis would falsify");
    }
  }
}

PublishedValue parse_published(const Figure& figure, const json& object, const std::string& where) {
  Fields fields(object, where + ", published");
  PublishedValue published{fields.text("panel"), fields.text("series"),
                           fields.maybe_number("x").value_or(-1),
                           fields.maybe_number("value").value_or(0), fields.text("source")};
  fields.finish();
  const auto has_id = [](const auto& list, const std::string& id) {
    return std::ranges::any_of(list, [&](const auto& spec) { return spec.id == id; });
  };
  if (!has_id(figure.panels, published.panel) || !has_id(figure.series, published.series) ||
      std::ranges::count(figure.x.positions, published.x) == 0 || published.value <= 0) {
    fields.complain("is no point of the figure, or its value is not above 0");
  }
  return published;
}

Profile parse_profile(const json& object) {
  Fields fields(object, "profile");
  Profile profile{fields.text("nic"), fields.text("memory"), fields.text("cpu")};
  fields.finish();
  return profile;
}

Figure parse_figure(const std::string& paper, const Profile& profile, const json& object) {
  Fields fields(object, fmt::format("figure {}", object.value("id", json("without id")).dump()));
  Figure figure;
  figure.paper = paper;
  figure.id = fields.text("id");
  figure.title = fields.text("title");
  figure.kind = figure_kind_of(fields);
  figure.x = parse_x(fields.object("x"), fields.where());
  figure.series = parse_list<SeriesSpec>(fields, "series", parse_series);
  figure.panels = parse_list<PanelSpec>(fields, "panels", parse_panel);
  if (figure.kind == FigureKind::stacked) {
    figure.parts = parse_list<PartSpec>(fields, "parts", parse_part);
  }
  figure.profile = fields.has("profile") ? parse_profile(fields.object("profile")) : profile;
  figure.set = parameters(fields);
  figure.chosen = fields.text_or("chosen", "");
  check_kind(figure, fields);
  for (const json& reading : fields.array("claims")) {
    figure.claims.push_back(parse_claim_reading(figure, reading, fields.where()));
  }
  if (object.contains("published")) {
    for (const json& published : fields.array("published")) {
      figure.published.push_back(parse_published(figure, published, fields.where()));
    }
  }
  fields.finish();
  return figure;
}

}  // namespace

Result<PaperFigures> parse_figures(std::string_view name, std::string_view text) {
  return parse_json(name, text, [](const json& file) {
    Fields fields(file, "the file");
    PaperFigures figures;
    figures.paper = fields.text("paper");
    figures.profile = parse_profile(fields.object("profile"));
    std::set<std::string> ids;
    for (const json& object : fields.array("figures")) {
      figures.figures.push_back(parse_figure(figures.paper, figures.profile, object));
      if (!ids.insert(figures.figures.back().id).second) {
        fields.complain(fmt::format("has two figures '{}'", figures.figures.back().id));
      }
    }
    fields.finish();
    return figures;
  });
}

}  // namespace remora::figures
