// The data of a panel: lines with markers, or bars beside and on one another.
#include <algorithm>
#include <map>

#include "lab/figures/draw.h"
#include "lab/figures/style.h"

namespace remora::figures {
namespace {

constexpr double widest_bar = 64;
const TextStyle bar_style{11, false, faint_ink};

void draw_spread(const Sample& sample, double base, double x, double cap, const Plot& plot,
                 const Colour& colour, Canvas& canvas) {
  if (sample.low == sample.high) {
    return;
  }
  const double low = plot.y_of(base + sample.low);
  const double high = plot.y_of(base + sample.high);
  canvas.line({x, low}, {x, high}, colour, 1.1);
  canvas.line({x - cap, low}, {x + cap, low}, colour, 1.1);
  canvas.line({x - cap, high}, {x + cap, high}, colour, 1.1);
}

// What the paper has, where it tells: a diamond on a white one, so that it shows on every bar.
void draw_published(const ChartPoint& point, double x, const Plot& plot, Canvas& canvas) {
  if (point.published) {
    const Place place{x, plot.y_of(*point.published)};
    canvas.marker(Marker::diamond, place, 8, white);
    canvas.marker(Marker::diamond, place, 6, ink);
  }
}

// The bars of a group, in the order of the series.
std::vector<std::string> bars_of(const ChartPanel& panel) {
  std::vector<std::string> bars;
  for (const ChartSeries& series : panel.series) {
    if (std::find(bars.begin(), bars.end(), series.bar) == bars.end()) {
      bars.push_back(series.bar);
    }
  }
  return bars;
}

}  // namespace

void draw_lines(const Chart& chart, const ChartPanel& panel, const Plot& plot, Canvas& canvas) {
  for (const ChartSeries& series : panel.series) {
    const Colour colour = colour_of(series.style);
    std::vector<Place> places;
    for (const ChartPoint& point : series.points) {
      const double x = plot.x_of(chart.x, point.place);
      draw_spread(point.sample, 0, x, 4, plot, colour, canvas);
      places.push_back({x, plot.y_of(point.sample.value)});
    }
    canvas.polyline(places, colour, 2, dashes_of(series.style));
    for (std::size_t i = 0; i < places.size(); ++i) {
      canvas.marker(marker_of(series.style), places[i], 4, colour);
      draw_published(series.points[i], places[i].x, plot, canvas);
    }
  }
}

void draw_bars(const Chart& chart, const ChartPanel& panel, const Plot& plot, Canvas& canvas) {
  struct Whisker {
    Sample sample;
    double base = 0;
    double x = 0;
    ChartPoint point = {};
  };
  const std::vector<std::string> bars = bars_of(panel);
  const std::size_t count = chart.x.positions.size();
  const double bar_width =
      std::min(widest_bar, plot.slot_width(count) * 0.84 / static_cast<double>(bars.size()));
  const auto left_of = [&](std::size_t place, std::size_t bar) {
    const double from_centre = static_cast<double>(bar) - static_cast<double>(bars.size()) / 2;
    return plot.slot_centre(place, count) + bar_width * from_centre;
  };
  std::map<std::pair<std::size_t, std::size_t>, double> heights;  // by place and bar, so far
  std::vector<Whisker> whiskers;                                  // drawn last, above all bars
  for (const ChartSeries& series : panel.series) {
    const auto bar =
        static_cast<std::size_t>(std::find(bars.begin(), bars.end(), series.bar) - bars.begin());
    for (const ChartPoint& point : series.points) {
      double& height = heights[{point.place, bar}];
      const double left = left_of(point.place, bar);
      const double top = plot.y_of(height + point.sample.value);
      const double bottom = height > 0 ? plot.y_of(height) : plot.area.bottom();
      const Box box{left + bar_width * 0.05, top, bar_width * 0.9, bottom - top};
      canvas.fill(box, colour_of(series.style));
      canvas.hatch(box, hatch_of(series.style), white);
      canvas.outline(box, ink, 0.6);
      whiskers.push_back({point.sample, height, left + bar_width / 2, point});
      height += point.sample.value;
    }
  }
  for (const Whisker& whisker : whiskers) {
    draw_spread(whisker.sample, whisker.base, whisker.x, std::min(4.0, bar_width / 4), plot, ink,
                canvas);
    draw_published(whisker.point, whisker.x, plot, canvas);
  }
  if (chart.kind != FigureKind::stacked) {
    return;
  }
  for (const auto& [where, height] : heights) {
    const double centre = left_of(where.first, where.second) + bar_width / 2;
    canvas.text(canvas.fitted(bars[where.second], bar_width, bar_style),
                {centre, plot.area.bottom() + 15}, Align::centre, bar_style);
  }
}

}  // namespace remora::figures
