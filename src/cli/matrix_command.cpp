// remora matrix: for every engine and every platform, whether its promise held.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/granularity_words.h"
#include "cli/json_output.h"
#include "cli/matrix_table.h"
#include "cli/validators.h"
#include "lab/crash/campaign.h"
#include "lab/subjects/subjects.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

struct MatrixArguments {
  std::vector<std::string> engines;
  std::uint64_t runs = 200;
  std::uint64_t seed = 1;
  std::string granularity = "cache-line";
  std::size_t threads = 0;
  bool json = false;
  std::string color = "auto";
};

std::optional<CrashViolation> first_violation(const CrashSubject& subject,
                                              const CampaignOptions& options, std::uint64_t& runs) {
  CampaignReport report = run_campaign(subject, options);
  runs = report.runs;
  if (report.violations.empty()) {
    return std::nullopt;
  }
  return std::move(report.violations.front());
}

// Whether the promise says nothing of power cuts.
bool is_open(const CrashSubject& subject) {
  const std::optional<Promise> promise = subject.store_promise();
  return promise && promise->acknowledged <= Acknowledged::visible;
}

Cell run_cell(const CrashSubject& subject, const Platform& platform,
              const MatrixArguments& arguments, const std::optional<Granularity>& granularity) {
  CampaignOptions options;
  options.runs = arguments.runs;
  options.seed = arguments.seed;
  options.settings = {platform.domain, platform.ddio, platform.flush, granularity};
  options.threads = arguments.threads;
  options.most_violations = 1;
  Cell cell{std::string(subject.name()), std::string(subject.promise()), platform, 0, {}, {}};
  cell.violation = first_violation(subject, options, cell.runs);
  for (const Question& question : is_open(subject) ? questions() : questions().first(0)) {
    options.hold_to = question.promise;
    options.only_rule = question.rule;
    std::uint64_t runs = 0;
    cell.findings.push_back({&question, first_violation(subject, options, runs)});
  }
  return cell;
}

nlohmann::ordered_json to_json(const CrashViolation& violation, std::string_view replay) {
  return {{"seed", violation.seed},
          {"rule", violation.rule},
          {"meaning", meaning_of_rule(violation.rule)},
          {"explanation", violation.explanation},
          {"stricter_than_x86", violation.stricter_than_x86},
          {"replay", replay}};
}

nlohmann::ordered_json to_json(const Cell& cell, const MatrixArguments& arguments) {
  nlohmann::ordered_json json = {{"engine", cell.engine},
                                 {"promise", cell.promise},
                                 {"domain", to_string(cell.platform.domain)},
                                 {"ddio", switch_text(cell.platform.ddio)},
                                 {"flush", to_string(cell.platform.flush)},
                                 {"granularity", arguments.granularity},
                                 {"runs", cell.runs},
                                 {"held", !cell.violation},
                                 {"seed", nullptr}};
  if (cell.violation) {
    json.update(to_json(*cell.violation,
                        replay_command(cell, cell.violation->seed, arguments.granularity)));
  }
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const Finding& finding : cell.findings) {
    nlohmann::ordered_json one = {{"question", finding.question->name},
                                  {"found", finding.violation.has_value()}};
    if (finding.violation) {
      one["shown"] = finding.question->shown;
      one.update(to_json(*finding.violation,
                         replay_command(cell, finding.violation->seed, arguments.granularity,
                                        finding.question->name)));
    }
    findings.push_back(std::move(one));
  }
  json["findings"] = findings;
  return json;
}

int matrix(MatrixArguments arguments) {
  if (arguments.engines.empty()) {
    for (const CrashSubject* subject : lab::subjects()) {
      arguments.engines.emplace_back(subject->name());
    }
  }
  const Result<std::optional<Granularity>> granularity = parse_granularity(arguments.granularity);
  if (!granularity.ok()) {
    return fail(granularity.status());
  }
  const Result<Paint> paint = paint_of(arguments.color);
  if (!paint.ok()) {
    return fail(paint.status());
  }
  std::vector<const CrashSubject*> subjects;
  for (const std::string& engine : arguments.engines) {
    const Result<const CrashSubject*> subject = lab::find_subject(engine);
    if (!subject.ok()) {
      return fail(subject.status());
    }
    subjects.push_back(*subject);
  }
  fmt::print(stderr, "matrix: seed {}, runs {} for each cell, granularity {}\n", arguments.seed,
             arguments.runs, arguments.granularity);
  std::vector<Cell> cells;
  bool ours_broken = false;
  {
    const std::vector<Platform> platforms = all_platforms();
    Progress progress("matrix", "cells", subjects.size() * platforms.size());
    for (const CrashSubject* subject : subjects) {
      for (const Platform& platform : platforms) {
        cells.push_back(run_cell(*subject, platform, arguments, *granularity));
        // That a rival breaks its promise on some platform is what the matrix is there to show.
        ours_broken |= cells.back().violation && !subject->descriptor().is_rival;
        progress.show(cells.size());
      }
    }
  }
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Cell& cell : cells) {
      list.push_back(to_json(cell, arguments));
    }
    print_json(list);
  } else {
    fmt::print(
        "{}", matrix_text(cells, arguments.engines, arguments.runs, arguments.granularity, *paint));
  }
  return ours_broken ? exit_broken : exit_kept;
}

}  // namespace

void add_matrix_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("matrix", "For every engine and platform: whether its promise held");
  const auto arguments = std::make_shared<MatrixArguments>();
  command->add_option("--engine", arguments->engines,
                      "Only these, of " + lab::subject_names() + "; may be repeated");
  command->add_option("--runs", arguments->runs, "How many seeded runs for each cell")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--seed", arguments->seed, "Seed of the first run; run i has seed + i")
      ->capture_default_str()
      ->check(whole_number(0));
  command
      ->add_option("--granularity", arguments->granularity,
                   "Granularity of the medium: cache-line, page, or any (by the seed); on pages "
                   "the platform makes no difference")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads to use; 0 means one for each core")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_flag("--json", arguments->json, "Print JSON");
  command
      ->add_option("--color", arguments->color,
                   "Whether colours are used: auto (on a terminal), always or never")
      ->capture_default_str();
  command->footer(
      "Of a rival whose promise says nothing of power cuts the matrix shows more: whether its "
      "values\n"
      "tear (whole), its reads step back (monotonic), and what it acknowledged is lost "
      "(persistent).\n"
      "A cell that is broken is a finding, and the exit status is 0 all the same; it is 1 when "
      "the\n"
      "promise of a system was broken that is not a rival (`remora systems` tells).");
  command->callback([arguments, &exit_status] { exit_status = matrix(*arguments); });
}

}  // namespace remora::cli
