#include "lab/figures/runs.h"

#include <algorithm>

namespace remora::figures {
namespace {

void add_slots(const Figure& figure, const PanelSpec& panel, Point point, FigureRun& run) {
  if (figure.parts.empty()) {
    run.slots.push_back({std::move(point), panel.metric});
    return;
  }
  for (const PartSpec& part : figure.parts) {
    point.part = part.id;
    run.slots.push_back({point, panel.metric});
  }
}

FigureRun& run_with(std::vector<FigureRun>& runs, Parameters parameters) {
  const auto found = std::find_if(
      runs.begin(), runs.end(), [&](const FigureRun& run) { return run.parameters == parameters; });
  if (found != runs.end()) {
    return *found;
  }
  runs.push_back({std::move(parameters), {}});
  return runs.back();
}

}  // namespace

std::vector<FigureRun> runs_of(const Figure& figure) {
  std::vector<FigureRun> runs;
  for (const PanelSpec& panel : figure.panels) {
    for (const SeriesSpec& series : figure.series) {
      for (std::size_t i = 0; i < figure.x.values.size(); ++i) {
        Parameters parameters = figure.set;
        parameters.merge(panel.set);
        parameters.merge(series.set);
        parameters.set(figure.x.parameter, figure.x.values[i]);
        FigureRun& run = run_with(runs, std::move(parameters));
        add_slots(figure, panel, {panel.id, series.id, "", figure.x.positions[i]}, run);
      }
    }
  }
  return runs;
}

}  // namespace remora::figures
