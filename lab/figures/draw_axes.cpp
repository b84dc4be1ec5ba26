// The axes of a panel: scales, grid, marks and names.
#include <algorithm>
#include <cmath>
#include <map>

#include "lab/figures/draw.h"
#include "lab/figures/style.h"

namespace remora::figures {
namespace {

constexpr double tick_gap = 6;
constexpr double slot_gap = 4;   // between names of categories
constexpr double name_row = 14;  // of a name that takes several lines
const TextStyle tick_style{12, false, ink};
const TextStyle label_style{13, false, ink};
const TextStyle panel_style{13.5, true, ink};

struct Extent {
  double low = 0;
  double high = 0;
};

// The least and the greatest value to be shown, spreads and stacks included. The least is above 0.
Extent extent_of(const ChartPanel& panel, bool stacked) {
  Extent extent{HUGE_VAL, 0};
  std::map<std::pair<std::string, std::size_t>, double> sums;
  for (const ChartSeries& series : panel.series) {
    for (const ChartPoint& point : series.points) {
      double& sum = sums[{series.bar, point.place}];
      extent.high = std::max(extent.high, (stacked ? sum : 0) + point.sample.high);
      sum += point.sample.value;
      extent.high = std::max(extent.high, point.published.value_or(0));
      for (const double value :
           {point.sample.low, point.sample.value, point.published.value_or(0)}) {
        extent.low = value > 0 ? std::min(extent.low, value) : extent.low;
      }
    }
  }
  return extent;
}

Ticks y_ticks(const ChartPanel& panel, bool stacked) {
  const Extent extent = extent_of(panel, stacked);
  if (panel.scale == Scale::log10 && extent.high > 0) {
    return log10_ticks(extent.low, extent.high);
  }
  return linear_ticks(extent.high * 1.02, 6);
}

// How far along the axis, from 0 to 1, and then with room at both ends.
double along(const XAxis& axis, std::size_t place) {
  const auto scaled = [&](double value) {
    return axis.scale == Scale::linear ? value : std::log2(value);
  };
  const double low = scaled(axis.positions.front());
  const double high = scaled(axis.positions.back());
  const double part = high > low ? (scaled(axis.positions[place]) - low) / (high - low) : 0.5;
  return 0.04 + 0.92 * part;
}

void draw_y(const Plot& plot, Canvas& canvas) {
  for (const Tick& tick : plot.y.ticks) {
    const double y = plot.y_of(tick.value);
    if (tick.label.empty()) {
      canvas.line({plot.area.left - 3, y}, {plot.area.left, y}, ink, 0.8);
      continue;
    }
    canvas.line({plot.area.left, y}, {plot.area.right(), y}, grid_ink, 1);
    canvas.line({plot.area.left - 5, y}, {plot.area.left, y}, ink, 1);
    canvas.text(tick.label, {plot.area.left - 8, y + 4}, Align::right, tick_style);
  }
}

// The lines that the names of categories take, in slots of that width.
std::size_t name_lines(const Chart& chart, double slot_width, Canvas& canvas) {
  std::size_t most = 1;
  if (chart.x.scale == Scale::category) {
    for (const std::string& name : chart.x.names) {
      most = std::max(most, canvas.wrapped(name, slot_width - slot_gap, tick_style).size());
    }
  }
  return most;
}

void draw_category(const std::string& name, double x, double top, double width, Canvas& canvas) {
  for (const std::string& line : canvas.wrapped(name, width, tick_style)) {
    canvas.text(canvas.fitted(line, width, tick_style), {x, top}, Align::centre, tick_style);
    top += name_row;
  }
}

// Names along a scale that would touch the one before are left out; the mark stays.
void draw_x(const Chart& chart, const Plot& plot, double names_top, Canvas& canvas) {
  double free_from = -HUGE_VAL;
  const std::size_t count = chart.x.names.size();
  for (std::size_t place = 0; place < count; ++place) {
    const double x = plot.x_of(chart.x, place);
    const std::string& name = chart.x.names[place];
    if (chart.x.scale == Scale::category) {
      draw_category(name, x, names_top, plot.slot_width(count) - slot_gap, canvas);
      continue;
    }
    canvas.line({x, plot.area.bottom()}, {x, plot.area.bottom() + 5}, ink, 1);
    const double half = canvas.text_width(name, tick_style) / 2;
    if (x - half >= free_from) {
      canvas.text(name, {x, names_top}, Align::centre, tick_style);
      free_from = x + half + tick_gap;
    }
  }
}

}  // namespace

double Plot::y_of(double value) const {
  if (y_scale == Scale::log10) {
    const double low = std::log10(y.low);
    const double part = value > 0 ? (std::log10(value) - low) / (std::log10(y.high) - low) : 0;
    return area.bottom() - area.height * std::clamp(part, 0.0, 1.0);
  }
  return area.bottom() - area.height * (value - y.low) / (y.high - y.low);
}

double Plot::slot_width(std::size_t count) const {
  return area.width / static_cast<double>(count);
}

double Plot::slot_centre(std::size_t place, std::size_t count) const {
  return area.left + slot_width(count) * (static_cast<double>(place) + 0.5);
}

double Plot::x_of(const XAxis& axis, std::size_t place) const {
  return axis.scale == Scale::category ? slot_centre(place, axis.positions.size())
                                       : area.left + area.width * along(axis, place);
}

Plot draw_axes(const Chart& chart, const ChartPanel& panel, const Box& box, Canvas& canvas) {
  const bool stacked = chart.kind == FigureKind::stacked;
  Plot plot;
  plot.y = y_ticks(panel, stacked);
  plot.y_scale = plot.y.low > 0 ? Scale::log10 : Scale::linear;
  double tick_width = 0;
  for (const Tick& tick : plot.y.ticks) {
    tick_width = std::max(tick_width, canvas.text_width(tick.label, tick_style));
  }
  const double left = 30 + tick_width + 12;
  const double top = panel.title.empty() ? 8 : 28;
  const double bar_names = stacked ? 18 : 0;
  const double slot_width =
      (box.width - left - 16) / static_cast<double>(std::max<std::size_t>(chart.x.names.size(), 1));
  const double more_rows =
      static_cast<double>(name_lines(chart, slot_width, canvas) - 1) * name_row;
  const double bottom = 46 + bar_names + more_rows;
  plot.area = {box.left + left, box.top + top, box.width - left - 16, box.height - top - bottom};

  draw_y(plot, canvas);
  draw_x(chart, plot, plot.area.bottom() + 18 + bar_names, canvas);
  canvas.line({plot.area.left, plot.area.top}, {plot.area.left, plot.area.bottom()}, ink, 1);
  canvas.line({plot.area.left, plot.area.bottom()}, {plot.area.right(), plot.area.bottom()}, ink,
              1);
  const double middle = plot.area.left + plot.area.width / 2;
  canvas.text(panel.title, {middle, box.top + 16}, Align::centre, panel_style);
  canvas.text(chart.x_label, {middle, plot.area.bottom() + 37 + bar_names + more_rows},
              Align::centre, label_style);
  canvas.text(panel.y_label, {box.left + 14, plot.area.top + plot.area.height / 2}, Align::centre,
              label_style, true);
  return plot;
}

}  // namespace remora::figures
