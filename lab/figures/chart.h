// Chart: a picture as data, before any drawing: panels of lines or bars over one x axis.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/figures/figure.h"
#include "lab/figures/observations.h"

namespace remora::figures {

struct ChartPoint {
  std::size_t place = 0;  // which x of the axis
  Sample sample = {};
  std::optional<double> published = {};  // what the paper has there
};

// A line; or one colour of the bars. Bars of one `bar` stand on one another.
struct ChartSeries {
  std::string label = {};  // in the legend
  std::string bar = {};    // under the bar, where bars are stacked
  std::size_t style = 0;   // colour, marker, dash or hatch
  std::vector<ChartPoint> points = {};
};

struct ChartPanel {
  std::string title = {};
  std::string y_label = {};  // with its unit
  Scale scale = Scale::linear;
  std::vector<ChartSeries> series = {};
};

struct Chart {
  std::string title = {};
  Origin origin = Origin::modelled;
  std::string note = {};  // at the foot: profile or machine, seed
  FigureKind kind = FigureKind::lines;
  std::string x_label = {};
  XAxis x = {};
  std::vector<ChartPanel> panels = {};
};

// What `observations` of one origin show of `figure`. Points that are not there are left out.
Chart chart_of(const Figure& figure, const Observations& observations, Origin origin,
               std::string note);

}  // namespace remora::figures
