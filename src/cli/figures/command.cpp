// remora figures: the figures of the papers, modelled and measured here, and what became of their
// claims.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/figures/runs.h"
#include "lab/figures/report.h"

namespace remora::cli {

std::string text_of(const figures::Outcome& outcome) {
  if (outcome.holds) {
    return *outcome.holds ? "holds" : "does not";
  }
  if (!outcome.worst || !outcome.best) {
    return "-";
  }
  return *outcome.worst == *outcome.best
             ? fmt::format("{:.2f}", *outcome.best)
             : fmt::format("{:.2f}..{:.2f}", *outcome.worst, *outcome.best);
}

namespace {

void print_table(const std::vector<figures::Judgement>& judgements) {
  fmt::print("{:8} {:8} {:12} {:12} {:9} {:17} {}\n", "claim", "figure", "modelled", "measured",
             "verdict", "detail", "reason");
  for (const figures::Judgement& judgement : judgements) {
    fmt::print("{:8} {:8} {:12} {:12} {:9} {:17} {}\n", judgement.claim.id, judgement.claim.figure,
               text_of(judgement.modelled), text_of(judgement.measured),
               figures::to_string(judgement.verdict()), figures::to_string(judgement.finding),
               judgement.reason);
  }
}

// How many keys and operations the papers had most of them do not say; these are so many that more
// of them change nothing but the time.
constexpr std::uint64_t full_records = 100'000;
constexpr std::uint64_t full_operations = 50'000;
constexpr std::uint64_t full_warm_up = 400'000;

// The command that gives the same again.
std::string command_of(const FiguresArguments& arguments) {
  std::string command =
      fmt::format("remora figures {} --seed {} --ops {} --records {} --repeats {} --measured {}",
                  arguments.name, arguments.run.seed, arguments.run.operations,
                  arguments.run.records, arguments.repeats, arguments.measured);
  command += arguments.full ? " --full" : "";
  for (const std::string& setting : arguments.settings) {
    command += " --set " + setting;
  }
  return command;
}

Status take_settings(FiguresArguments& arguments) {
  for (const std::string& setting : arguments.settings) {
    REMORA_TRY_RESULT(knob, parse_knob(setting));
    if (knob->values.size() != 1) {
      return Status(Code::invalid_argument,
                    "--set takes one value, as in cores=4; --sweep several");
    }
    REMORA_TRY(set_knob(knob->name, knob->values.front(), arguments.run));
  }
  return {};
}

int run_figures(FiguresArguments arguments) {
  if (const Status taken = take_settings(arguments); !taken.ok()) {
    return fail(taken);
  }
  const Result<figures::Library> library = figures::Library::built_in();
  if (!library.ok()) {
    return fail(library.status());
  }
  const Result<std::vector<const figures::Figure*>> chosen = library->select(arguments.name);
  if (!chosen.ok()) {
    return fail(Status(Code::invalid_argument, std::string(chosen.status().message())));
  }
  if (!arguments.sweep.empty()) {
    return run_sweep(*library, *chosen, arguments);
  }
  figures::Observations observations;
  const Result<FigureRuns> runs = run_all(*chosen, arguments, observations);
  if (!runs.ok()) {
    return fail(runs.status());
  }
  figures::Provenance provenance;
  provenance.command = command_of(arguments);
  provenance.version = REMORA_VERSION;
  provenance.seed = arguments.run.seed;
  if (arguments.measured != "none") {
    provenance.machine = fmt::format("this machine: {} processors, wire {}",
                                     ::sysconf(_SC_NPROCESSORS_ONLN), arguments.measured);
  }
  const Result<figures::Report> report =
      figures::write_report(*library, *chosen, observations, provenance, arguments.out);
  if (!report.ok()) {
    return fail(report.status());
  }
  if (arguments.json) {
    fmt::print("{}\n", figures::to_json(report->judgements));
  } else {
    print_table(report->judgements);
    fmt::print(
        "\nmodelled: by the profiles of the papers' hardware; measured: on this machine, {}; the "
        "page is {}\n",
        arguments.measured, report->page.string());
  }
  if (runs->failed != 0) {
    fmt::print(stderr, "remora: {} of {} runs failed on this machine; their claims lack data\n",
               runs->failed, runs->runs);
    return exit_environment;
  }
  return exit_kept;
}

}  // namespace

void add_figures_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("figures", "The papers' figures, modelled, and a verdict on each claim");
  auto arguments = std::make_shared<FiguresArguments>();
  command->add_option("name", arguments->name,
                      "A paper (efactory) or a figure (efactory-9a); without it, all");
  command->add_option("--out", arguments->out, "Folder for pictures, data and page")
      ->capture_default_str();
  CLI::Option* const ops =
      command->add_option("--ops", arguments->run.operations, "Operations that each run measures")
          ->capture_default_str()
          ->check(CLI::Range(100, 10'000'000));
  CLI::Option* const records =
      command->add_option("--records", arguments->run.records, "Records that each run loads first")
          ->capture_default_str()
          ->check(CLI::Range(10, 10'000'000));
  command->add_option("--repeats", arguments->repeats, "Runs of each point, by seeds that follow")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_option("--seed", arguments->run.seed, "Seed of the first run")
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads to use; 0 means one for each core")
      ->capture_default_str();
  command
      ->add_option("--measured", arguments->measured,
                   "Measure on this machine too: ring, mapped or roce, or none")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "ring", "mapped", "roce"}));
  command->add_option("--set", arguments->settings,
                      "Set cores, records, ops, or a number of the papers' profiles otherwise: "
                      "cores=4, memory.flush_line_ns=114");
  command->add_option("--sweep", arguments->sweep,
                      "Print what becomes of the claims as one of these changes: cores=1,2,4");
  command->add_flag("--full", arguments->full,
                    "At the scale of the papers: 100,000 records, and 50,000 operations that are "
                    "measured after up to 400,000 that warm up");
  command->add_flag("--json", arguments->json, "Print the verdicts as JSON");
  command->footer(
      "A verdict is within, beyond or short; the detail says whether ours agrees, is better, "
      "differs,\n"
      "contradicts, or is too close to tell. A claim that falls short is a finding, and the exit\n"
      "status is 0 all the same. It is 3 where a run failed: then what was to come of it is "
      "missing.");
  command->callback([arguments, ops, records, &exit_status] {
    if (arguments->full) {
      arguments->run.records = records->empty() ? full_records : arguments->run.records;
      arguments->run.operations = ops->empty() ? full_operations : arguments->run.operations;
      arguments->run.warm_up_limit = full_warm_up;
    }
    exit_status = run_figures(*arguments);
  });
}

}  // namespace remora::cli
