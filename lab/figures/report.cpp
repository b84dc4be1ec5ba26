#include "lab/figures/report.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/figures/chart.h"
#include "lab/figures/render.h"

namespace remora::figures {
namespace {

using nlohmann::ordered_json;

constexpr Origin origins[] = {Origin::modelled, Origin::measured};

ordered_json got_json(const Claim& claim, const Outcome& outcome) {
  if (outcome.finding == Finding::no_data) {
    return nullptr;
  }
  if (outcome.holds) {
    return *outcome.holds;
  }
  if (claim.kind == ClaimKind::point || claim.kind == ClaimKind::match) {
    return *outcome.best;
  }
  return ordered_json::array({*outcome.worst, *outcome.best});
}

// Where the numbers lie, as they are given: [low, high] for each.
ordered_json interval_json(const Claim& claim, const Outcome& outcome) {
  if (!outcome.best_interval) {
    return nullptr;
  }
  const auto one = [](const Interval& interval) {
    return ordered_json::array({interval.low, interval.high});
  };
  if (claim.kind == ClaimKind::point || claim.kind == ClaimKind::match) {
    return one(*outcome.best_interval);
  }
  return ordered_json::array({one(*outcome.worst_interval), one(*outcome.best_interval)});
}

// A field of a CSV row, quoted where it must be.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  Status make() const {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    return error
               ? os_failure(fmt::format("cannot make the folder {}", path_.string()), error.value())
               : Status();
  }

  Status write(const std::string& name, const std::string& bytes) {
    const std::filesystem::path file = path_ / name;
    errno = 0;
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.close();
    if (!stream) {
      return os_failure(fmt::format("cannot write {}", file.string()), errno != 0 ? errno : EIO);
    }
    files.push_back(file);
    return Status();
  }

  std::vector<std::filesystem::path> files;

 private:
  const std::filesystem::path path_;
};

Status write_figure(const DrawnFigure& drawn, Folder& folder) {
  const std::string key = drawn.figure->key();
  REMORA_TRY(folder.write(key + ".csv", drawn.csv));
  for (const auto& [origin, bytes] : drawn.svg) {
    REMORA_TRY(folder.write(fmt::format("{}-{}.svg", key, to_string(origin)), bytes));
  }
  for (const auto& [origin, bytes] : drawn.png) {
    REMORA_TRY(folder.write(fmt::format("{}-{}.png", key, to_string(origin)), bytes));
  }
  return Status();
}

}  // namespace

std::vector<Judgement> judge_all(const Library& library, const std::vector<const Figure*>& figures,
                                 const Observations& observations) {
  std::vector<Judgement> judgements;
  for (const Claim* claim : library.claims_of(figures)) {
    judgements.push_back(judge_claim(*claim, library.figure(claim->paper, claim->figure),
                                     observations, library.comment(claim->id)));
  }
  return judgements;
}

std::string to_json(const std::vector<Judgement>& judgements) {
  ordered_json list = ordered_json::array();
  for (const Judgement& judgement : judgements) {
    list.push_back({{"claim", judgement.claim.id},
                    {"modelled", got_json(judgement.claim, judgement.modelled)},
                    {"measured", got_json(judgement.claim, judgement.measured)},
                    {"interval", interval_json(judgement.claim, judgement.modelled)},
                    {"verdict", to_string(judgement.verdict())},
                    {"detail", to_string(judgement.finding)},
                    {"reason", judgement.reason}});
  }
  return list.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string to_csv(const Figure& figure, const Observations& observations) {
  std::string csv =
      "origin,panel,metric,unit,series,part,x,x_name,value,low,high,state,persistent\n";
  std::vector<PartSpec> parts = figure.parts;
  if (parts.empty()) {
    parts.push_back({});
  }
  for (const Origin origin : origins) {
    for (const PanelSpec& panel : figure.panels) {
      for (const SeriesSpec& series : figure.series) {
        for (const PartSpec& part : parts) {
          for (std::size_t i = 0; i < figure.x.positions.size(); ++i) {
            const double x = figure.x.positions[i];
            const Sample* const sample =
                observations.find(figure, origin, {panel.id, series.id, part.id, x});
            if (sample != nullptr) {
              csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", to_string(origin),
                                 field(panel.id), field(panel.metric), field(panel.unit),
                                 field(series.id), field(part.id), x, field(figure.x.names[i]),
                                 sample->value, sample->low, sample->high,
                                 sample->is_burst ? "burst" : "steady", sample->persistent_share);
            }
          }
        }
      }
    }
  }
  return csv;
}

std::string note_of(const Figure& figure, Origin origin, const Provenance& provenance) {
  const std::string where =
      origin == Origin::measured
          ? "on " + (provenance.machine.empty() ? "this machine" : provenance.machine)
          : "by the profile " + to_text(figure.profile);
  return fmt::format("{}; seed {}", where, provenance.seed);
}

Result<DrawnFigure> draw_figure(const Figure& figure, const Observations& observations,
                                const Provenance& provenance) {
  DrawnFigure drawn;
  drawn.figure = &figure;
  drawn.csv = to_csv(figure, observations);
  for (const Origin origin : origins) {
    if (!observations.any(figure, origin)) {
      continue;
    }
    const Chart chart = chart_of(figure, observations, origin, note_of(figure, origin, provenance));
    Result<std::string> svg = to_svg(chart);
    REMORA_TRY(svg.status());
    drawn.svg[origin] = std::move(*svg);
    Result<std::string> png = to_png(chart);
    REMORA_TRY(png.status());
    drawn.png[origin] = std::move(*png);
  }
  return drawn;
}

Result<Report> write_report(const Library& library, const std::vector<const Figure*>& figures,
                            const Observations& observations, const Provenance& provenance,
                            const std::filesystem::path& path) {
  Folder folder(path);
  REMORA_TRY(folder.make());
  Report report;
  report.judgements = judge_all(library, figures, observations);
  std::vector<DrawnFigure> drawn;
  for (const Figure* figure : figures) {
    Result<DrawnFigure> one = draw_figure(*figure, observations, provenance);
    REMORA_TRY(one.status());
    REMORA_TRY(write_figure(*one, folder));
    drawn.push_back(std::move(*one));
  }
  REMORA_TRY(folder.write("claims.json", to_json(report.judgements)));
  REMORA_TRY(
      folder.write("index.html", to_page(drawn, report.judgements, observations, provenance)));
  report.files = std::move(folder.files);
  report.page = path / "index.html";
  return report;
}

}  // namespace remora::figures
