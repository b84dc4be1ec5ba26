// remora figures: the figures of the papers, modelled and measured here, and what became of their
// claims.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/figure_runs.h"
#include "cli/progress.h"
#include "runtime/parallel.h"
#include "sim/figures/library.h"
#include "sim/figures/report.h"
#include "sim/figures/runs.h"

namespace remora::cli {
namespace {

struct FiguresArguments {
  std::string name;
  std::string out = "figures";
  FigureRunOptions run;
  std::uint64_t repeats = 5;
  std::string sweep;
  std::size_t threads = 0;
  std::string measured = "none";
  bool json = false;
};

struct Job {
  const figures::Figure* figure = nullptr;
  figures::FigureRun run;
  figures::Origin origin = figures::Origin::modelled;
  std::vector<std::vector<double>> values = {};  // by slot, of each repeat
  bool is_burst = false;
  double persistent_share = 1;  // the least of the repeats
  Status status = {};
};

void perform(Job& job, const figures::Profile& profile, const FiguresArguments& arguments) {
  job.values.resize(job.run.slots.size());
  for (std::uint64_t repeat = 0; repeat < arguments.repeats; ++repeat) {
    FigureRunOptions options = arguments.run;
    options.seed += repeat;
    const Result<FigureValues> values =
        job.origin == figures::Origin::modelled
            ? run_modelled_figure(job.run, profile, options)
            : run_measured_figure(job.run, arguments.measured, options);
    if (!values.ok()) {
      job.status = values.status();
      return;
    }
    job.is_burst |= values->is_burst;
    job.persistent_share = std::min(job.persistent_share, values->persistent_share);
    for (std::size_t slot = 0; slot < job.run.slots.size(); ++slot) {
      if (values->values[slot]) {
        job.values[slot].push_back(*values->values[slot]);
      }
    }
  }
}

Status observe(const Job& job, figures::Observations& observations) {
  for (std::size_t slot = 0; slot < job.run.slots.size(); ++slot) {
    const std::vector<double>& values = job.values[slot];
    if (values.empty()) {
      continue;
    }
    double sum = 0;
    for (const double value : values) {
      sum += value;
    }
    figures::Sample sample;
    sample.low = std::ranges::min(values);
    sample.high = std::ranges::max(values);
    sample.value = std::clamp(sum / static_cast<double>(values.size()), sample.low, sample.high);
    sample.by_seed = values;
    sample.is_burst = job.is_burst;
    sample.persistent_share = job.persistent_share;
    REMORA_TRY(
        observations.add(*job.figure, job.origin, job.run.slots[slot].point, std::move(sample)));
  }
  return {};
}

// Modelled runs side by side, then measured ones, each with the machine to itself.
void perform_all(std::vector<Job>& jobs, const figures::Library& library,
                 const FiguresArguments& arguments) {
  Progress progress("figures", "runs", jobs.size());
  std::mutex mutex;
  std::uint64_t finished = 0;
  const auto perform_one = [&](Job& job) {
    perform(job, library.paper(job.figure->paper)->profile, arguments);
    const std::lock_guard lock(mutex);
    progress.show(++finished);
  };
  const auto measured = std::ranges::stable_partition(
      jobs, [](const Job& job) { return job.origin == figures::Origin::modelled; });
  const std::size_t modelled = jobs.size() - measured.size();
  parallel_for(modelled, arguments.threads, [&](std::size_t index) { perform_one(jobs[index]); });
  for (std::size_t index = modelled; index < jobs.size(); ++index) {
    perform_one(jobs[index]);
  }
}

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

// What is to be run; and where nothing is to be measured, why.
std::vector<Job> jobs_of(const std::vector<const figures::Figure*>& chosen,
                         const FiguresArguments& arguments, figures::Observations& observations) {
  std::vector<Job> jobs;
  for (const figures::Figure* figure : chosen) {
    for (figures::FigureRun& run : figures::runs_of(*figure)) {
      const std::string obstacle = arguments.measured == "none"
                                       ? "--measured ring, mapped or roce does it"
                                       : why_not_measured(run);
      if (obstacle.empty()) {
        jobs.push_back({figure, run, figures::Origin::measured});
      } else {
        observations.explain(*figure, figures::Origin::measured, obstacle);
      }
      jobs.push_back({figure, std::move(run)});
    }
  }
  return jobs;
}

// Says which runs failed; returns how many.
std::size_t report_failures(const std::vector<Job>& jobs, figures::Observations& observations) {
  std::size_t failed = 0;
  for (const Job& job : jobs) {
    if (!job.status.ok()) {
      const std::string cause = fmt::format(
          "the run with {} failed: {}", figures::to_text(job.run.parameters), job.status.message());
      observations.explain(*job.figure, job.origin, cause);
      fmt::print(stderr, "remora: {}, {}: {}\n", job.figure->key(), figures::to_string(job.origin),
                 cause);
      ++failed;
    }
  }
  return failed;
}

// Which claims hold at which number of request cores: one column for each.
int run_sweep(const figures::Library& library, const std::vector<const figures::Figure*>& chosen,
              FiguresArguments arguments, const std::vector<std::uint32_t>& cores) {
  std::vector<std::vector<figures::Judgement>> columns;
  std::size_t failed = 0;
  for (const std::uint32_t count : cores) {
    arguments.run.request_cores = count;
    figures::Observations observations;
    std::vector<Job> jobs = jobs_of(chosen, arguments, observations);
    fmt::print(stderr, "figures: {} request core(s)\n", count);
    perform_all(jobs, library, arguments);
    failed += report_failures(jobs, observations);
    for (const Job& job : jobs) {
      if (Status status = job.status.ok() ? observe(job, observations) : Status(); !status.ok()) {
        return fail(status);
      }
    }
    columns.push_back(figures::judge_all(library, chosen, observations));
  }
  fmt::print("| claim | paper |");
  for (const std::uint32_t count : cores) {
    fmt::print(" {} core{} |", count, count == 1 ? "" : "s");
  }
  fmt::print("\n|---|---|{}\n", [&] {
    std::string rule;
    for (std::size_t i = 0; i < cores.size(); ++i) {
      rule += "---|";
    }
    return rule;
  }());
  for (std::size_t row = 0; row < columns.front().size(); ++row) {
    const figures::Claim& claim = columns.front()[row].claim;
    fmt::print("| {} | {} |", claim.id, figures::said(claim));
    for (const std::vector<figures::Judgement>& column : columns) {
      fmt::print(" {}, {} |", text_of(column[row].modelled),
                 figures::to_string(column[row].finding));
    }
    fmt::print("\n");
  }
  return failed == 0 ? exit_kept : exit_environment;
}

// "cores=1,2,4".
Result<std::vector<std::uint32_t>> parse_sweep(const std::string& text) {
  const Status wrong(Code::invalid_argument,
                     "a sweep is over cores, from 1 to 1024, such as cores=1,2,4,8,16");
  constexpr std::string_view name = "cores=";
  if (!text.starts_with(name)) {
    return wrong;
  }
  std::vector<std::uint32_t> counts;
  for (const std::string& part : CLI::detail::split(text.substr(name.size()), ',')) {
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count < 1 || count > 1024) {
      return wrong;
    }
    counts.push_back(count);
  }
  return counts;
}

int run_figures(const FiguresArguments& arguments) {
  const Result<figures::Library> library = figures::Library::built_in();
  if (!library.ok()) {
    return fail(library.status());
  }
  const Result<std::vector<const figures::Figure*>> chosen = library->select(arguments.name);
  if (!chosen.ok()) {
    return fail(Status(Code::invalid_argument, std::string(chosen.status().message())));
  }
  if (!arguments.sweep.empty()) {
    const Result<std::vector<std::uint32_t>> cores = parse_sweep(arguments.sweep);
    return cores.ok() ? run_sweep(*library, *chosen, arguments, *cores) : fail(cores.status());
  }
  figures::Observations observations;
  std::vector<Job> jobs = jobs_of(*chosen, arguments, observations);
  fmt::print(stderr, "figures: {} figure(s), {} run(s), measured on {}, seed {}\n", chosen->size(),
             jobs.size(), arguments.measured, arguments.run.seed);
  perform_all(jobs, *library, arguments);
  const std::size_t failed = report_failures(jobs, observations);
  for (const Job& job : jobs) {
    if (Status status = job.status.ok() ? observe(job, observations) : Status(); !status.ok()) {
      return fail(status);
    }
  }
  figures::Provenance provenance;
  provenance.command =
      fmt::format("remora figures {} --seed {} --ops {} --records {} --repeats {} --measured {}",
                  arguments.name, arguments.run.seed, arguments.run.operations,
                  arguments.run.records, arguments.repeats, arguments.measured);
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
  if (failed != 0) {
    fmt::print(stderr, "remora: {} of {} runs failed on this machine; their claims lack data\n",
               failed, jobs.size());
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
  command->add_option("--ops", arguments->run.operations, "Operations that each run measures")
      ->capture_default_str()
      ->check(CLI::Range(100, 10'000'000));
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
  command->add_option(
      "--sweep", arguments->sweep,
      "Print what becomes of the claims by the server's request cores: cores=1,2,4");
  command->add_flag("--json", arguments->json, "Print the verdicts as JSON");
  command->footer(
      "A verdict is within, beyond or short; the detail says whether ours agrees, is better, "
      "differs,\n"
      "contradicts, or is too close to tell. A claim that falls short is a finding, and the exit\n"
      "status is 0 all the same. It is 3 where a run failed: then what was to come of it is "
      "missing.");
  command->callback([arguments, &exit_status] { exit_status = run_figures(*arguments); });
}

}  // namespace remora::cli
