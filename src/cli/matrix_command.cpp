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
#include "cli/questions.h"
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
};

// The answer to a question that goes beyond the engine's promise.
struct Finding {
  const Question* question = nullptr;
  std::optional<CrashViolation> violation;
};

struct Cell {
  std::string engine;
  std::string promise;
  Platform platform;
  std::uint64_t runs = 0;
  std::optional<CrashViolation> violation;
  std::vector<Finding> findings;  // of a rival whose promise leaves something open
};

std::string switch_text(bool on) {
  return on ? "on" : "off";
}

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

std::string platform_text(const Platform& platform) {
  return fmt::format("{:4}ddio={:4}flush={:9}", to_string(platform.domain),
                     switch_text(platform.ddio), to_string(platform.flush));
}

std::string replay_command(const Cell& cell, std::uint64_t seed, const MatrixArguments& arguments,
                           std::string_view hold_to = "own") {
  return fmt::format(
      "remora crash --engine {} --runs 1 --seed {} --domain {} --ddio {} --flush {} "
      "--granularity {}{}",
      cell.engine, seed, to_string(cell.platform.domain), switch_text(cell.platform.ddio),
      to_string(cell.platform.flush), arguments.granularity,
      hold_to == "own" ? "" : fmt::format(" --hold-to {}", hold_to));
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
    json.update(to_json(*cell.violation, replay_command(cell, cell.violation->seed, arguments)));
  }
  nlohmann::ordered_json findings = nlohmann::ordered_json::array();
  for (const Finding& finding : cell.findings) {
    nlohmann::ordered_json one = {{"question", finding.question->name},
                                  {"found", finding.violation.has_value()}};
    if (finding.violation) {
      one["shown"] = finding.question->shown;
      one.update(to_json(*finding.violation, replay_command(cell, finding.violation->seed,
                                                            arguments, finding.question->name)));
    }
    findings.push_back(std::move(one));
  }
  json["findings"] = findings;
  return json;
}

// One line for each platform on which the promise was broken.
void print_broken(const Cell& cell, const MatrixArguments& arguments) {
  if (cell.violation) {
    fmt::print("    {} broken: {}\n      {}: {}\n      replay: {}\n", platform_text(cell.platform),
               meaning_of_rule(cell.violation->rule), cell.violation->rule,
               cell.violation->explanation, replay_command(cell, cell.violation->seed, arguments));
  }
}

// What else was shown, platform by platform, with the first of them in full.
void print_findings(std::span<const Cell* const> cells, const MatrixArguments& arguments) {
  for (std::size_t i = 0; i < cells.front()->findings.size(); ++i) {
    const Question& question = *cells.front()->findings[i].question;
    const Cell* first = nullptr;
    for (const Cell* cell : cells) {
      first = first == nullptr && cell->findings[i].violation ? cell : first;
    }
    if (first == nullptr) {
      fmt::print("    {}: not seen on any platform\n", question.name);
      continue;
    }
    fmt::print("    {}: {}\n", question.name, question.shown);
    for (const Cell* cell : cells) {
      const std::optional<CrashViolation>& violation = cell->findings[i].violation;
      fmt::print("      {} {}\n", platform_text(cell->platform),
                 violation ? fmt::format("seed {}", violation->seed) : "not seen");
    }
    const CrashViolation& violation = *first->findings[i].violation;
    fmt::print("      {}\n      replay: {}\n", violation.explanation,
               replay_command(*first, violation.seed, arguments, question.name));
  }
}

// Platforms down, engines across.
void print_table(const std::vector<Cell>& cells, const std::vector<std::string>& engines,
                 const MatrixArguments& arguments) {
  fmt::print("{:28}", "platform");
  for (const std::string& engine : engines) {
    fmt::print("  {:{}}", engine, std::max<std::size_t>(engine.size(), 12));
  }
  fmt::print("\n");
  for (const Platform& platform : all_platforms()) {
    fmt::print("{}", platform_text(platform));
    for (const std::string& engine : engines) {
      const auto cell = std::ranges::find_if(
          cells, [&](const Cell& one) { return one.engine == engine && one.platform == platform; });
      fmt::print("  {:{}}",
                 cell->violation ? fmt::format("seed {}", cell->violation->seed) : "held",
                 std::max<std::size_t>(engine.size(), 12));
    }
    fmt::print("\n");
  }
  fmt::print("held: over {} runs. seed N: the promise was broken by that seed\n", arguments.runs);
  for (const std::string& engine : engines) {
    std::vector<const Cell*> of_engine;
    for (const Cell& cell : cells) {
      if (cell.engine == engine) {
        of_engine.push_back(&cell);
      }
    }
    fmt::print("  {}: {}\n", engine, of_engine.front()->promise);
    for (const Cell* cell : of_engine) {
      print_broken(*cell, arguments);
    }
    if (!of_engine.front()->findings.empty()) {
      fmt::print("    beyond its promise:\n");
      print_findings(of_engine, arguments);
    }
  }
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
    print_table(cells, arguments.engines, arguments);
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
