// to_page: the HTML page of a report.
#include <fmt/format.h>

#include <algorithm>

#include "lab/figures/claims_plot.h"
#include "lab/figures/html_text.h"
#include "lab/figures/report.h"
#include "lab/figures/runs.h"

namespace remora::figures {
namespace {

constexpr std::string_view style = R"(
body { font: 16px/1.55 "DejaVu Sans", Verdana, sans-serif; color: #222; max-width: 1040px;
       margin: 2em auto; padding: 0 1.2em; }
h1 { font-size: 1.6em; margin-bottom: 0.3em; }
h2 { font-size: 1.25em; line-height: 1.3; margin: 3em 0 0.5em 0; padding-top: 0.9em;
     border-top: 2px solid #ddd; }
table { border-collapse: collapse; width: 100%; font-size: 0.9em; }
th, td { border-bottom: 1px solid #ddd; padding: 0.35em 0.6em; text-align: left;
         vertical-align: top; }
th { background: #f4f4f4; } th.count, td.count { text-align: right; white-space: nowrap; }
.within, .beyond, .short, .no-data { font-weight: bold; white-space: nowrap; padding: 0 0.5em;
         border-radius: 3px; font-size: 0.87em; }
.within { background: #cfe8d5; color: #0b4f24; } .beyond { background: #cfe2f7; color: #0a3a6b; }
.short { background: #f9d9cc; color: #7a2600; } .no-data { background: #e6e6e6; color: #444; }
img { max-width: 100%; display: block; margin: 0.8em 0; border: 1px solid #e4e4e4; }
code, pre { font-family: "DejaVu Sans Mono", monospace; font-size: 0.88em; background: #f6f6f6; }
code { padding: 0 0.25em; } pre { padding: 0.7em; overflow-x: auto; }
.claim { margin: 1.1em 0; } .claim p { margin: 0.15em 0; }
.because { color: #444; }
details { margin: 0.5em 0; } summary { cursor: pointer; color: #335; }
.small { color: #555; font-size: 0.87em; }
svg.claims { width: 100%; height: auto; margin: 0.8em 0; }
svg.claims text { font-family: "DejaVu Sans", Verdana, sans-serif; fill: #222; }
svg.claims .what { font-size: 13px; } svg.claims .where { font-size: 11px; fill: #666; }
svg.claims .grid { stroke: #e2e2e2; } svg.claims .one { stroke: #888; stroke-dasharray: 4 3; }
svg.claims path.paper { fill: #222; } svg.claims circle.modelled { fill: #0072b2; }
svg.claims circle.measured { fill: #b35900; }
svg.claims line.paper { stroke: #222; } svg.claims line.modelled { stroke: #0072b2; }
svg.claims line.measured { stroke: #b35900; }
svg.claims .range { stroke-width: 2; } svg.claims .seeds { stroke-width: 6; opacity: 0.35; }
)";

std::string badge(Verdict verdict) {
  const std::string_view name = to_string(verdict);
  return fmt::format("<span class=\"{}\">{}</span>", verdict == Verdict::no_data ? "no-data" : name,
                     name);
}

using Judgements = std::vector<const Judgement*>;

std::size_t count_of(const Judgements& judgements, Verdict verdict) {
  return static_cast<std::size_t>(std::ranges::count_if(
      judgements, [&](const Judgement* one) { return one->verdict() == verdict; }));
}

Judgements judgements_of(const Figure& figure, const std::vector<Judgement>& judgements) {
  Judgements of;
  for (const Judgement& judgement : judgements) {
    if (judgement.claim.paper == figure.paper && judgement.claim.figure == figure.id) {
      of.push_back(&judgement);
    }
  }
  return of;
}

std::string does(Verdict verdict, bool one) {
  switch (verdict) {
    case Verdict::within:
      return one ? "agrees with the paper" : "agree with the paper";
    case Verdict::beyond:
      return one ? "does better" : "do better";
    default:
      return one ? "falls short" : "fall short";
  }
}

// "Of 4 claims 2 agree with the paper, 1 does better and 1 falls short."
std::string verdict_sentence(const Judgements& judgements) {
  if (judgements.empty()) {
    return "No claim is about this figure.";
  }
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::within, Verdict::beyond, Verdict::short_of}) {
    if (const std::size_t count = count_of(judgements, verdict); count != 0) {
      parts.push_back(fmt::format("{} {}", count, does(verdict, count == 1)));
    }
  }
  std::string text =
      judgements.size() == 1 ? "Of one claim " : fmt::format("Of {} claims ", judgements.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  }
  return text + ".";
}

constexpr std::size_t most_sentences = 3;

// The first sentences of a text: they end with a point before a space.
std::string first_sentences(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t sentence = 0; sentence < most_sentences; ++sentence) {
    const std::size_t point = text.find(". ", end);
    if (point == text.npos) {
      return text;
    }
    end = point + 2;
  }
  return text.substr(0, end - 1);
}

// The verdict on a claim, in one sentence.
std::string claim_sentence(const Judgement& judgement) {
  const Claim& claim = judgement.claim;
  std::string ours;
  for (const auto& [outcome, how] :
       {std::pair(&judgement.modelled, "modelled"), std::pair(&judgement.measured, "measured")}) {
    if (outcome->finding != Finding::no_data) {
      ours += fmt::format("{}{} {}", ours.empty() ? "" : ", ", how, got(*outcome));
    }
  }
  return fmt::format("{}: the paper has {}, {}: {}.", about(claim), said(claim),
                     ours.empty() ? "we have nothing" : ours, to_string(judgement.finding));
}

std::string claim_block(const Judgement& judgement) {
  std::string html = fmt::format("<div class=\"claim\" id=\"{0}\"><p>{1} <b>{0}</b> {2}</p>\n",
                                 escaped(judgement.claim.id), badge(judgement.verdict()),
                                 escaped(claim_sentence(judgement)));
  if (!judgement.because.empty()) {
    html +=
        fmt::format("<p class=\"because\">{}</p>\n", escaped(first_sentences(judgement.because)));
  }
  return html + fmt::format(
                    "<details><summary class=\"small\">in full</summary><p class=\"small\">"
                    "{}: {}</p></details></div>\n",
                    escaped(judgement.claim.workload), escaped(judgement.reason));
}

std::string contents(const std::vector<DrawnFigure>& drawn,
                     const std::vector<Judgement>& judgements) {
  std::string html =
      "<table>\n<tr><th>figure</th><th>what it shows</th><th class=\"count\">claims</th>";
  for (const Verdict verdict : {Verdict::within, Verdict::beyond, Verdict::short_of}) {
    html += fmt::format("<th class=\"count\">{}</th>", to_string(verdict));
  }
  html += "</tr>\n";
  for (const DrawnFigure& figure : drawn) {
    const Judgements of = judgements_of(*figure.figure, judgements);
    html += fmt::format(
        "<tr><td><a href=\"#figure-{0}\">{0}</a></td><td>{1}</td>"
        "<td class=\"count\">{2}</td>",
        escaped(figure.figure->key()), escaped(figure.figure->title), of.size());
    for (const Verdict verdict : {Verdict::within, Verdict::beyond, Verdict::short_of}) {
      const std::size_t count = count_of(of, verdict);
      html += fmt::format("<td class=\"count\">{}</td>", count == 0 ? "" : std::to_string(count));
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
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

// What a reader need not know: how it was run, and all of the numbers.
std::string folded(const DrawnFigure& drawn, const Observations& observations,
                   const Provenance& provenance) {
  const Figure& figure = *drawn.figure;
  const auto command = provenance.commands.find(figure.key());
  std::string html = "<details><summary>how it was run</summary>\n";
  html += figure.chosen.empty() ? "" : fmt::format("<p>{}</p>\n", escaped(figure.chosen));
  for (const PublishedValue& published : figure.published) {
    html += fmt::format("<p>The paper's own number for {} at {}: {}; {}.</p>\n",
                        escaped(published.series), escaped(figure.x_name(published.x)),
                        number_text(published.value), escaped(published.source));
  }
  html +=
      fmt::format("<p>To draw it again: <code>{}</code></p>\n",
                  escaped(command != provenance.commands.end() ? command->second
                                                               : "remora figures " + figure.key()));
  return html + data_table(figure, observations) + runs_list(figure) + "</details>\n";
}

std::string picture(const DrawnFigure& drawn, Origin origin, const std::string& note) {
  return fmt::format(
      "<img alt=\"{0}, {1}\" src=\"data:image/svg+xml;base64,{2}\">\n"
      "<p class=\"small\">{1} {3}</p>\n",
      escaped(drawn.figure->title), to_string(origin), base64(drawn.svg.at(origin)), escaped(note));
}

std::string section(const DrawnFigure& drawn, const std::vector<Judgement>& judgements,
                    const Observations& observations, const Provenance& provenance) {
  const Figure& figure = *drawn.figure;
  const Judgements of = judgements_of(figure, judgements);
  std::string html =
      fmt::format("<h2 id=\"figure-{}\">Figure {}: {}</h2>\n<p>{}</p>\n", escaped(figure.key()),
                  escaped(figure.id), escaped(figure.title), verdict_sentence(of));
  html += claims_plot(of);
  for (const Origin origin : {Origin::modelled, Origin::measured}) {
    html += drawn.svg.contains(origin)
                ? picture(drawn, origin, note_of(figure, origin, provenance))
                : fmt::format("<p class=\"small\">{}: {} {}</p>\n", to_string(origin),
                              badge(Verdict::no_data), escaped(observations.cause(figure, origin)));
  }
  for (const Judgement* judgement : of) {
    html += claim_block(*judgement);
  }
  return html + folded(drawn, observations, provenance);
}

}  // namespace

std::string to_page(const std::vector<DrawnFigure>& drawn, const std::vector<Judgement>& judgements,
                    const Observations& observations, const Provenance& provenance) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>Remora: figures and claims</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<h1>Figures and claims</h1>\n",
      style);
  html += fmt::format("<p class=\"small\">Remora {}, <code>{}</code>, seed {}</p>\n",
                      escaped(provenance.version), escaped(provenance.command), provenance.seed);
  html +=
      "<p>Modelled is in virtual time, by the profile of the paper's hardware; measured is in real "
      "time, on one machine. Verdicts are on what was modelled, and compare effects: how far a "
      "ratio is from 1, over several seeds. <b>Within</b>: ours agrees. <b>Beyond</b>: ours does "
      "better, and its rivals stand where the paper has them. <b>Short</b>: anything else, and the "
      "reason says what.</p>\n";
  html += contents(drawn, judgements);
  for (const DrawnFigure& figure : drawn) {
    html += section(figure, judgements, observations, provenance);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace remora::figures
