// Drawing a chart: header and legend, then the panels in a grid, then the note.
#pragma once

#include "lab/figures/canvas.h"
#include "lab/figures/chart.h"
#include "lab/figures/ticks.h"

namespace remora::figures {

struct PictureSize {
  double width = 0;
  double height = 0;
};

// The size that `chart` needs; the canvas is only measured with.
PictureSize picture_size(const Chart& chart, Canvas& canvas);

void draw(const Chart& chart, Canvas& canvas);

// One panel's plot area and its axes. The next three are the panel's steps.
struct Plot {
  Box area;
  Ticks y;
  Scale y_scale = Scale::linear;

  double y_of(double value) const;
  // The middle of the x axis' place `place`, of `count`.
  double slot_centre(std::size_t place, std::size_t count) const;
  double slot_width(std::size_t count) const;
  double x_of(const XAxis& axis, std::size_t place) const;
};

// Axes, grid and names in `box`; returns where the data go.
Plot draw_axes(const Chart& chart, const ChartPanel& panel, const Box& box, Canvas& canvas);
void draw_lines(const Chart& chart, const ChartPanel& panel, const Plot& plot, Canvas& canvas);
void draw_bars(const Chart& chart, const ChartPanel& panel, const Plot& plot, Canvas& canvas);

}  // namespace remora::figures
