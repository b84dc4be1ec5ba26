// What the tests of the figures share: a small library, and ways to fill it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "lab/figures/library.h"
#include "lab/figures/observations.h"
#include "lab/figures/runs.h"

namespace remora::figures {

inline Library built_in() {
  Result<Library> library = Library::built_in();
  EXPECT_TRUE(library.ok()) << library.status().message();
  return std::move(*library);
}

inline const Figure& figure_of(const Library& library, const std::string& id) {
  const Figure* const figure = library.figure("efactory", id);
  EXPECT_NE(figure, nullptr);
  return *figure;
}

inline void add(Observations& observations, const Figure& figure, Origin origin, const Point& point,
                double value) {
  const Status status = observations.add(figure, origin, point, Sample::once(value));
  EXPECT_TRUE(status.ok()) << status.message();
}

// Every point of the figure, by `value`.
inline void fill(Observations& observations, const Figure& figure, Origin origin,
                 const std::function<double(const Point&)>& value) {
  for (const FigureRun& run : runs_of(figure)) {
    for (const Slot& slot : run.slots) {
      add(observations, figure, origin, slot.point, value(slot.point));
    }
  }
}

// A file of figures of the paper "p": one lines figure "1" with the series a, b, c over x 1, 2, 4,
// the panels one and two, and `claims` as its claims.
inline std::string small_figures(const std::string& claims) {
  return R"({"paper": "p", "profile": {"nic": "n", "memory": "m", "cpu": "c"}, "figures": [
    {"id": "1", "title": "t", "kind": "lines",
     "x": {"parameter": "clients", "label": "clients", "scale": "linear", "values": [1, 2, 4]},
     "series": [{"id": "a", "label": "A", "set": {"engine": "a"}},
                {"id": "b", "label": "B", "set": {"engine": "b"}},
                {"id": "c", "label": "C", "set": {"engine": "c"}}],
     "panels": [{"id": "one", "metric": "v", "label": "v", "unit": "u", "set": {"mix": "r"}},
                {"id": "two", "metric": "v", "label": "v", "unit": "u", "set": {"mix": "w"}}],
     "set": {"seed": 7}, "claims": [)" +
         claims + "]}]}";
}

inline Figure small_figure(const std::string& claims) {
  Result<PaperFigures> parsed = parse_figures("small", small_figures(claims));
  EXPECT_TRUE(parsed.ok()) << parsed.status().message();
  return std::move(parsed->figures.front());
}

}  // namespace remora::figures
