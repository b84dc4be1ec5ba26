// The report on some figures: pictures, data, verdicts and the page that shows them all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/figures/judge.h"
#include "lab/figures/library.h"
#include "lab/figures/observations.h"

namespace remora::figures {

// Where the numbers come from, as the page tells it.
struct Provenance {
  std::string command;  // the whole command that made the report
  std::string version;
  std::string machine;  // on which was measured
  std::uint64_t seed = 0;
  std::map<std::string, std::string> commands;  // by key of a figure, what makes it anew; where
                                                // there is none: "remora figures KEY"
};

// The verdicts on all claims of `figures`, in the order of the claims file.
std::vector<Judgement> judge_all(const Library& library, const std::vector<const Figure*>& figures,
                                 const Observations& observations);

// A list of {"claim", "modelled", "measured", "interval", "verdict", "detail", "reason"}. What we
// got is a number for a point, [worst, best] for range and upto, true or false for a shape, null
// where there is no data. The interval is of what was modelled, [low, high] for each number. The
// verdict is "within", "beyond" or "short", and the detail what was found, as compare.h has it; the
// reason says what is missing where there is null.
std::string to_json(const std::vector<Judgement>& judgements);

// The samples of a figure, one row each:
// origin,panel,metric,unit,series,part,x,x_name,value,low,high,state,persistent
// where the state is steady or burst, and persistent the share of what was put.
std::string to_csv(const Figure& figure, const Observations& observations);

// What stands below a picture: profile or machine, and the seed.
std::string note_of(const Figure& figure, Origin origin, const Provenance& provenance);

// What was drawn of one figure. A picture that would show no sample is not drawn, and is empty.
struct DrawnFigure {
  const Figure* figure = nullptr;
  std::map<Origin, std::string> svg;
  std::map<Origin, std::string> png;
  std::string csv;
};
Result<DrawnFigure> draw_figure(const Figure& figure, const Observations& observations,
                                const Provenance& provenance);

// The page: one HTML text with its pictures in it, that needs nothing from elsewhere.
std::string to_page(const std::vector<DrawnFigure>& drawn, const std::vector<Judgement>& judgements,
                    const Observations& observations, const Provenance& provenance);

struct Report {
  std::vector<Judgement> judgements;
  std::vector<std::filesystem::path> files;  // all that were written
  std::filesystem::path page;                // of these, the one to open
};

// Writes into `folder`, which is made if it is not there: index.html, claims.json, and for every
// figure KEY.csv, KEY-modelled.svg and .png, KEY-measured.svg and .png. Files of these names are
// replaced. Fails as the file system does.
Result<Report> write_report(const Library& library, const std::vector<const Figure*>& figures,
                            const Observations& observations, const Provenance& provenance,
                            const std::filesystem::path& folder);

}  // namespace remora::figures
