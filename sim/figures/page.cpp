// to_page: the HTML page of a report.
#include <fmt/format.h>

#include <algorithm>

#include "sim/figures/html_text.h"
#include "sim/figures/report.h"
#include "sim/figures/runs.h"

namespace remora::figures {
namespace {

constexpr std::string_view style = R"(
body { font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222; max-width: 1200px;
       margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.2em; margin-top: 2.2em; }
table { border-collapse: collapse; width: 100%; font-size: 0.87em; }
th, td { border-bottom: 1px solid #ddd; padding: 0.35em 0.6em; text-align: left;
         vertical-align: top; }
th { background: #f4f4f4; } td.number { text-align: right; font-variant-numeric: tabular-nums; }
.within, .beyond, .short, .no-data { font-weight: bold; white-space: nowrap; padding: 0 0.5em;
         border-radius: 3px; }
.within { background: #cfe8d5; color: #0b4f24; } .beyond { background: #cfe2f7; color: #0a3a6b; }
.short { background: #f9d9cc; color: #7a2600; } .no-data { background: #e6e6e6; color: #444; }
img { max-width: 100%; display: block; margin: 0.8em 0; border: 1px solid #e4e4e4; }
code, pre { font-family: "DejaVu Sans Mono", monospace; font-size: 0.92em; background: #f6f6f6; }
code { padding: 0 0.25em; } pre { padding: 0.7em; overflow-x: auto; }
.reason { margin: 0.2em 0 0.8em 0; }
.small { color: #555; font-size: 0.87em; }
)";

std::string badge(Verdict verdict) {
  const std::string_view name = to_string(verdict);
  return fmt::format("<span class=\"{}\">{}</span>", verdict == Verdict::no_data ? "no-data" : name,
                     name);
}

// The cell of what we got, with its own verdict.
std::string cell(const Outcome& outcome) {
  if (outcome.finding == Finding::no_data) {
    return fmt::format("<td title=\"{}\">{}</td>", escaped(outcome.reason),
                       badge(outcome.verdict()));
  }
  return fmt::format("<td title=\"{}\">{} <span class=\"small\">{}</span></td>",
                     escaped(outcome.reason), escaped(got(outcome)), to_string(outcome.finding));
}

std::string row(const Judgement& judgement) {
  const Claim& claim = judgement.claim;
  const std::string about =
      claim.versus ? fmt::format("{} / {}", claim.subject, *claim.versus) : claim.subject;
  const std::string note =
      claim.note.empty() || claim.kind == ClaimKind::shape
          ? ""
          : fmt::format("<br><span class=\"small\">{}</span>", escaped(claim.note));
  return fmt::format(
      "<tr id=\"{0}\"><td>{0}</td><td><a href=\"#figure-{1}\">{1}</a></td><td>{2}, {3}<br>"
      "<span class=\"small\">{4}</span></td><td>{5}{6}</td>{7}{8}<td>{9}<br>"
      "<span class=\"small\">{10}</span></td></tr>\n",
      escaped(claim.id), escaped(claim.paper + "-" + claim.figure), escaped(about),
      escaped(claim.metric), escaped(claim.workload), escaped(said(claim)), note,
      cell(judgement.modelled), cell(judgement.measured), badge(judgement.verdict()),
      to_string(judgement.finding));
}

std::string summary(const std::vector<Judgement>& judgements) {
  std::string text;
  for (const Verdict verdict : {Verdict::within, Verdict::beyond, Verdict::short_of}) {
    const auto count =
        std::count_if(judgements.begin(), judgements.end(),
                      [&](const Judgement& one) { return one.verdict() == verdict; });
    text += fmt::format("{} {}&ensp;", badge(verdict), count);
  }
  return text;
}

std::string data_table(const Figure& figure, const Observations& observations) {
  const std::string csv = to_csv(figure, observations);
  return fmt::format("<details><summary>data ({} samples)</summary><pre>{}</pre></details>\n",
                     std::count(csv.begin(), csv.end(), '\n') - 1, escaped(csv));
}

std::string runs_list(const Figure& figure) {
  const std::vector<FigureRun> runs = runs_of(figure);
  std::string text;
  for (const FigureRun& run : runs) {
    text += to_text(run.parameters) + "\n";
  }
  return fmt::format("<details><summary>runs ({})</summary><pre>{}</pre></details>\n", runs.size(),
                     escaped(text));
}

// What became of the figure's claims, in sentences.
std::string reasons(const Figure& figure, const std::vector<Judgement>& judgements) {
  std::string html;
  for (const Judgement& judgement : judgements) {
    if (judgement.claim.paper == figure.paper && judgement.claim.figure == figure.id) {
      html += fmt::format("<p class=\"reason\"><a href=\"#{0}\">{0}</a> {1} {2}</p>\n",
                          escaped(judgement.claim.id), badge(judgement.verdict()),
                          escaped(judgement.reason));
    }
  }
  return html;
}

std::string section(const Library& library, const DrawnFigure& drawn,
                    const std::vector<Judgement>& judgements, const Observations& observations,
                    const Provenance& provenance) {
  const Figure& figure = *drawn.figure;
  std::string html = fmt::format("<h2 id=\"figure-{}\">Figure {}: {}</h2>\n", escaped(figure.key()),
                                 escaped(figure.id), escaped(figure.title));
  for (const Origin origin : {Origin::modelled, Origin::measured}) {
    const auto svg = drawn.svg.find(origin);
    if (svg == drawn.svg.end()) {
      html += fmt::format("<p>{}: {} <span class=\"small\">{}</span></p>\n", to_string(origin),
                          badge(Verdict::no_data), escaped(observations.cause(figure, origin)));
      continue;
    }
    html += fmt::format(
        "<img alt=\"{0}, {1}\" src=\"data:image/svg+xml;base64,{2}\">\n"
        "<p class=\"small\">{1} {3}</p>\n",
        escaped(figure.title), to_string(origin), base64(svg->second),
        escaped(note_of(library, figure, origin, provenance)));
  }
  html += reasons(figure, judgements);
  if (!figure.chosen.empty()) {
    html += fmt::format("<p>{}</p>\n", escaped(figure.chosen));
  }
  const auto command = provenance.commands.find(figure.key());
  html +=
      fmt::format("<p>To make it anew: <code>{}</code></p>\n",
                  escaped(command != provenance.commands.end() ? command->second
                                                               : "remora figures " + figure.key()));
  return html + data_table(figure, observations) + runs_list(figure);
}

}  // namespace

std::string to_page(const Library& library, const std::vector<DrawnFigure>& drawn,
                    const std::vector<Judgement>& judgements, const Observations& observations,
                    const Provenance& provenance) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>Remora: figures and claims</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<h1>Figures and claims</h1>\n",
      style);
  html += fmt::format("<p class=\"small\">Remora {}, <code>{}</code>, seed {}</p>\n",
                      escaped(provenance.version), escaped(provenance.command), provenance.seed);
  html +=
      "<p>Modelled: in virtual time, by the profile of the paper's hardware. Measured: in real "
      "time, on one machine. The verdict is on what was modelled; where nothing was, on what "
      "was measured: effects (a ratio less 1) with their sign and size, at worst and at best, with "
      "95% of confidence over the seeds.</p>\n";
  html += fmt::format("<p>{}</p>\n", summary(judgements));
  html +=
      "<table>\n<tr><th>claim</th><th>figure</th><th>what</th><th>the paper</th>"
      "<th>modelled</th><th>measured</th><th>verdict</th></tr>\n";
  for (const Judgement& judgement : judgements) {
    html += row(judgement);
  }
  html += "</table>\n";
  for (const DrawnFigure& figure : drawn) {
    html += section(library, figure, judgements, observations, provenance);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace remora::figures
