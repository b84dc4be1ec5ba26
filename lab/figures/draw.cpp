#include "lab/figures/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lab/figures/style.h"

namespace remora::figures {
namespace {

constexpr double margin = 18;
constexpr double title_row = 21;
constexpr double below_title = 13;
constexpr double legend_row = 22;
constexpr double bar_swatch = 26;
constexpr double line_swatch = 42;  // room for a dash on both sides of the marker
constexpr double note_row = 15;
constexpr double above_note = 11;
constexpr double badge_width = 110;
constexpr double one_panel_width = 820;
constexpr double one_panel_height = 430;
constexpr double panel_width = 560;
constexpr double panel_height = 330;
const TextStyle title_style{16, true, ink};
const TextStyle legend_style{13, false, ink};
const TextStyle note_style{11.5, false, faint_ink};

struct LegendEntry {
  std::string label;
  std::size_t style = 0;
  Place place;  // relative to the legend
  bool is_published = false;
};

struct Legend {
  std::vector<LegendEntry> entries;
  double height = 0;
};

std::size_t columns_of(const Chart& chart) {
  return chart.panels.size() == 1 ? 1 : 2;
}

double width_of(const Chart& chart) {
  return 2 * margin + (columns_of(chart) == 1 ? one_panel_width : 2 * panel_width);
}

double swatch_of(const Chart& chart) {
  return chart.kind == FigureKind::lines ? line_swatch : bar_swatch;
}

std::vector<std::string> title_of(const Chart& chart, Canvas& canvas) {
  return canvas.wrapped(chart.title, width_of(chart) - 2 * margin - badge_width, title_style);
}

double title_height(const Chart& chart, Canvas& canvas) {
  return title_row * static_cast<double>(title_of(chart, canvas).size()) + below_title;
}

std::vector<std::string> note_of(const Chart& chart, Canvas& canvas) {
  const std::string note = fmt::format("{}: {}", to_string(chart.origin), chart.note);
  return canvas.wrapped(note, width_of(chart) - 2 * margin, note_style);
}

double note_height(const Chart& chart, Canvas& canvas) {
  return note_row * static_cast<double>(note_of(chart, canvas).size()) + above_note;
}

bool has_published(const Chart& chart) {
  for (const ChartPanel& panel : chart.panels) {
    for (const ChartSeries& series : panel.series) {
      if (std::ranges::any_of(
              series.points, [](const ChartPoint& point) { return point.published.has_value(); })) {
        return true;
      }
    }
  }
  return false;
}

// The labels of all panels, each once, in rows that fit the width.
Legend legend_of(const Chart& chart, Canvas& canvas) {
  Legend legend;
  std::set<std::string> seen;
  const double width = width_of(chart) - 2 * margin;
  Place at;
  const auto add = [&](const std::string& label, std::size_t style, bool is_published) {
    const double needed = swatch_of(chart) + canvas.text_width(label, legend_style) + 26;
    if (at.x > 0 && at.x + needed > width) {
      at = {0, at.y + legend_row};
    }
    legend.entries.push_back({label, style, at, is_published});
    at.x += needed;
  };
  for (const ChartPanel& panel : chart.panels) {
    for (const ChartSeries& series : panel.series) {
      if (seen.insert(series.label).second) {
        add(series.label, series.style, false);
      }
    }
  }
  if (has_published(chart)) {
    add("the paper's own number", 0, true);
  }
  legend.height = at.y + legend_row + 8;
  return legend;
}

void draw_swatch(const Chart& chart, std::size_t style, const Place& at, Canvas& canvas) {
  const Colour colour = colour_of(style);
  if (chart.kind == FigureKind::lines) {
    canvas.polyline({{at.x, at.y + 7}, {at.x + 34, at.y + 7}}, colour, 2, dashes_of(style));
    canvas.marker(marker_of(style), {at.x + 17, at.y + 7}, 4, colour);
    return;
  }
  const Box box{at.x + 3, at.y + 1, 15, 12};
  canvas.fill(box, colour);
  canvas.hatch(box, hatch_of(style), white);
  canvas.outline(box, ink, 0.6);
}

// "MODELLED" or "MEASURED", so that no picture goes about without it.
void draw_badge(const Chart& chart, Canvas& canvas) {
  const bool modelled = chart.origin == Origin::modelled;
  const std::string text = modelled ? "MODELLED" : "MEASURED";
  const TextStyle style{12, true, white};
  const double width = canvas.text_width(text, style) + 16;
  const Box box{width_of(chart) - margin - width, margin - 2, width, 21};
  canvas.fill(box, modelled ? modelled_ink : measured_ink);
  canvas.text(text, {box.left + width / 2, box.top + 15}, Align::centre, style);
}

void draw_panel(const Chart& chart, const ChartPanel& panel, const Box& box, Canvas& canvas) {
  const Plot plot = draw_axes(chart, panel, box, canvas);
  const bool empty = std::all_of(panel.series.begin(), panel.series.end(),
                                 [](const ChartSeries& series) { return series.points.empty(); });
  if (empty) {
    const Place middle{plot.area.left + plot.area.width / 2, plot.area.top + plot.area.height / 2};
    canvas.text("no data", middle, Align::centre, {18, true, faint_ink});
  } else if (chart.kind == FigureKind::lines) {
    draw_lines(chart, panel, plot, canvas);
  } else {
    draw_bars(chart, panel, plot, canvas);
  }
}

}  // namespace

PictureSize picture_size(const Chart& chart, Canvas& canvas) {
  const std::size_t rows = (chart.panels.size() + columns_of(chart) - 1) / columns_of(chart);
  const double panels =
      columns_of(chart) == 1 ? one_panel_height : panel_height * static_cast<double>(rows);
  return {width_of(chart), 2 * margin + title_height(chart, canvas) +
                               legend_of(chart, canvas).height + panels +
                               note_height(chart, canvas)};
}

void draw(const Chart& chart, Canvas& canvas) {
  const PictureSize size = picture_size(chart, canvas);
  canvas.fill({0, 0, size.width, size.height}, white);
  double title_line = margin + 14;
  for (const std::string& line : title_of(chart, canvas)) {
    canvas.text(line, {margin, title_line}, Align::left, title_style);
    title_line += title_row;
  }
  draw_badge(chart, canvas);

  const Legend legend = legend_of(chart, canvas);
  const double legend_top = margin + title_height(chart, canvas);
  for (const LegendEntry& entry : legend.entries) {
    const Place at{margin + entry.place.x, legend_top + entry.place.y};
    if (entry.is_published) {
      canvas.marker(Marker::diamond, {at.x + 11, at.y + 7}, 6, ink);
    } else {
      draw_swatch(chart, entry.style, at, canvas);
    }
    canvas.text(entry.label, {at.x + swatch_of(chart), at.y + 12}, Align::left, legend_style);
  }

  const std::size_t columns = columns_of(chart);
  const double width = columns == 1 ? one_panel_width : panel_width;
  const double height = columns == 1 ? one_panel_height : panel_height;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const double column = static_cast<double>(i % columns);
    const double row = static_cast<double>(i / columns);
    draw_panel(chart, chart.panels[i],
               {margin + column * width, legend_top + legend.height + row * height, width, height},
               canvas);
  }
  double note_line = size.height - margin - note_height(chart, canvas) + above_note + note_row;
  for (const std::string& line : note_of(chart, canvas)) {
    canvas.text(line, {margin, note_line}, Align::left, note_style);
    note_line += note_row;
  }
}

}  // namespace remora::figures
