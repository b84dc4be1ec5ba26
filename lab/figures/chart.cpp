#include "lab/figures/chart.h"

#include <fmt/format.h>

namespace remora::figures {
namespace {

class Builder {
 public:
  Builder(const Figure& figure, const Observations& observations, Origin origin)
      : figure_(figure), observations_(observations), origin_(origin) {}

  ChartPanel panel(const PanelSpec& spec) const {
    ChartPanel panel;
    panel.title = spec.title;
    panel.y_label = fmt::format("{} ({})", spec.label, spec.unit);
    panel.scale = spec.scale;
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      const SeriesSpec& series = figure_.series[i];
      if (figure_.parts.empty()) {
        panel.series.push_back({series.label, series.label, i, points(spec.id, series.id, "")});
      }
      for (std::size_t part = 0; part < figure_.parts.size(); ++part) {
        panel.series.push_back({figure_.parts[part].label, series.label, part,
                                points(spec.id, series.id, figure_.parts[part].id)});
      }
    }
    return panel;
  }

 private:
  std::vector<ChartPoint> points(const std::string& panel, const std::string& series,
                                 const std::string& part) const {
    std::vector<ChartPoint> points;
    for (std::size_t place = 0; place < figure_.x.positions.size(); ++place) {
      const Sample* const sample =
          observations_.find(figure_, origin_, {panel, series, part, figure_.x.positions[place]});
      if (sample != nullptr) {
        points.push_back({place, *sample, published(panel, series, figure_.x.positions[place])});
      }
    }
    return points;
  }

  // Beside what was modelled: the machine of the paper is not this one.
  std::optional<double> published(const std::string& panel, const std::string& series,
                                  double x) const {
    for (const PublishedValue& value : figure_.published) {
      if (origin_ == Origin::modelled && value.panel == panel && value.series == series &&
          value.x == x) {
        return value.value;
      }
    }
    return std::nullopt;
  }

  const Figure& figure_;
  const Observations& observations_;
  const Origin origin_;
};

}  // namespace

Chart chart_of(const Figure& figure, const Observations& observations, Origin origin,
               std::string note) {
  Chart chart;
  chart.title = fmt::format("{} figure {}: {}", figure.paper, figure.id, figure.title);
  chart.origin = origin;
  chart.note = std::move(note);
  chart.kind = figure.kind;
  chart.x = figure.x;
  chart.x_label = figure.x.unit.empty() || figure.x.unit == "bytes"
                      ? figure.x.label
                      : fmt::format("{} ({})", figure.x.label, figure.x.unit);
  const Builder builder(figure, observations, origin);
  for (const PanelSpec& panel : figure.panels) {
    chart.panels.push_back(builder.panel(panel));
  }
  return chart;
}

}  // namespace remora::figures
