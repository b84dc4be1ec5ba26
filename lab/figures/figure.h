// Figure: one figure of a paper as data: what is run, what is drawn, and which claims are read from
// it. The files are docs/claims/figures/<paper>.json.
//
// A figure has panels (small plots side by side), each with every series over the same x axis. In a
// stacked figure every value is the sum of parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/figures/parameters.h"
#include "lab/figures/reading.h"

namespace remora::figures {

enum class FigureKind { lines, bars, stacked };
enum class Scale { linear, log2, log10, category };

struct XAxis {
  std::string parameter;  // the parameter that varies along it
  std::string label;
  std::string unit;  // "bytes" is shown as sizes
  Scale scale = Scale::linear;
  std::vector<ParameterValue> values;
  std::vector<double> positions;   // x of each value: the number itself, or its place if it is text
  std::vector<std::string> names;  // of each value, for a person
};

struct SeriesSpec {
  std::string id;
  std::string label;
  Parameters set;
};

struct PartSpec {
  std::string id;
  std::string label;
};

struct PanelSpec {
  std::string id;
  std::string title;
  std::string metric;  // what is observed: "throughput_ops_per_s", "latency_p50_us"
  std::string label;   // of the y axis
  std::string unit;
  Scale scale = Scale::linear;  // linear or log10
  Parameters set;
};

// What the paper itself has at a point, in the unit of the panel, where it tells.
struct PublishedValue {
  std::string panel;
  std::string series;
  double x = 0;
  double value = 0;
  std::string source;  // for a person: how it follows from what the paper says
};

// What hardware there was, by the names of profiles.
struct Profile {
  std::string nic;
  std::string memory;
  std::string cpu;
};
std::string to_text(const Profile& profile);

struct Figure {
  std::string paper;
  std::string id;
  std::string title;
  FigureKind kind = FigureKind::lines;
  XAxis x;
  std::vector<SeriesSpec> series;
  std::vector<PartSpec> parts;  // of a stacked figure
  std::vector<PanelSpec> panels;
  Profile profile;     // the paper's, unless the figure names its own
  Parameters set;      // what all runs have in common
  std::string chosen;  // what the paper leaves open, and what stands for it here
  std::vector<ClaimReading> claims;
  std::vector<PublishedValue> published;

  // "efactory-9a": how people name it, and what its files are called.
  std::string key() const;
  const ClaimReading* reading_of(std::string_view claim) const;
  // The name of an x that is on the axis; the number itself if it is not.
  std::string x_name(double position) const;
};

struct PaperFigures {
  std::string paper;
  Profile profile;
  std::vector<Figure> figures;
};

// Reads one file of figures. Refuses, with a message that names the figure: unknown fields and
// names of panels, series or parts that the figure does not have, ids that occur twice, a sweep
// that holds no x of the axis.
Result<PaperFigures> parse_figures(std::string_view name, std::string_view text);

}  // namespace remora::figures
