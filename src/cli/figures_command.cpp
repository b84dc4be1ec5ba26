// remora figures: the figures of the papers, modelled here, and what became of their claims.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/progress.h"
#include "runtime/parallel.h"
#include "sim/bench/modelled.h"
#include "sim/bench/remote_write.h"
#include "sim/figures/library.h"
#include "sim/figures/report.h"
#include "sim/figures/runs.h"

namespace remora::cli {
namespace {

struct FiguresArguments {
  std::string name;
  std::string out = "figures";
  std::uint64_t operations = 4'000;
  std::uint64_t records = 1'000;
  std::uint64_t repeats = 1;
  std::uint64_t seed = 1;
  std::size_t threads = 0;
  bool json = false;
};

// A pool in which the log is cleaned over and over while a run is measured.
constexpr std::uint64_t versions_between_cleanings = 1'000;

Result<store_bench::ModelledOptions> options_of(const figures::Parameters& parameters,
                                                const figures::Profile& profile,
                                                const FiguresArguments& arguments) {
  store_bench::ModelledOptions options;
  const Result<std::string> engine = parameters.text("engine");
  const Result<std::string> name = parameters.text("workload");
  const Result<std::int64_t> clients = parameters.integer("clients");
  const Result<std::int64_t> key_bytes = parameters.integer("key_size_bytes");
  const Result<std::int64_t> value_bytes = parameters.integer("value_size_bytes");
  for (const Status& status : {engine.status(), name.status(), clients.status(), key_bytes.status(),
                               value_bytes.status()}) {
    REMORA_TRY(status);
  }
  Result<workload::Workload> workload = workload::parse_workload(*name);
  Result<workload::KeyTexts> keys = workload::KeyTexts::parse(std::to_string(*key_bytes));
  Result<workload::ValueSizes> values = workload::ValueSizes::parse(std::to_string(*value_bytes));
  for (const Status& status : {workload.status(), keys.status(), values.status()}) {
    REMORA_TRY(status);
  }
  options.engine = *engine;
  options.plan.workload = *workload;
  options.plan.keys = *keys;
  options.plan.values = *values;
  options.plan.clients = static_cast<std::uint32_t>(*clients);
  options.plan.records = arguments.records;
  options.plan.operations = arguments.operations;
  options.plan.warm_up = arguments.operations / 4;
  options.plan.seed = arguments.seed;
  options.profile.nic = profile.nic;
  options.profile.memory = profile.memory;
  options.profile.cpu = profile.cpu;
  const Result<bool> cleaning = parameters.flag("cleaning");
  if (cleaning.ok() && *cleaning) {
    const auto object_bytes = static_cast<std::uint64_t>(*key_bytes + *value_bytes + 128);
    options.pool_bytes =
        (2 * arguments.records + versions_between_cleanings) * object_bytes + (4 << 20);
  }
  return options;
}

// What one run of a figure gives: of a store, or of remote writes without one.
Result<store_bench::ModelledReport> run_once(const figures::Parameters& parameters,
                                             const figures::Profile& profile,
                                             const FiguresArguments& arguments,
                                             std::uint64_t seed) {
  Result<store_bench::ModelledOptions> options = options_of(parameters, profile, arguments);
  if (!options.ok()) {
    return options.status();
  }
  const Result<std::string> experiment = parameters.text("experiment");
  if (experiment.ok() && *experiment == "remote-write") {
    const Result<std::int64_t> size = parameters.integer("value_size_bytes");
    return store_bench::run_remote_writes({.method = options->engine,
                                           .size_bytes = static_cast<std::uint32_t>(*size),
                                           .operations = options->plan.operations,
                                           .warm_up = options->plan.warm_up,
                                           .seed = seed,
                                           .profile = options->profile});
  }
  options->plan.seed = seed;
  return store_bench::run_modelled(*options);
}

double us(std::uint64_t total_ns, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count) / 1e3;
}

// What one run says about a point; nothing for a metric that it does not have.
std::optional<double> value_of(const store_bench::ModelledReport& report,
                               const figures::Slot& slot) {
  const workload::Summary& all = report.all;
  if (!slot.point.part.empty()) {
    const HostTally& client = report.client_cpu;
    const HostTally& server = report.server_cpu;
    const double crc = us(client.crc_ns + server.crc_ns, all.count);
    const double persist = us(client.persist_ns + server.persist_ns, all.count);
    const double other =
        us(client.other_ns + client.copy_ns + server.other_ns + server.copy_ns, all.count);
    const std::map<std::string, double> parts = {
        {"crc", crc},
        {"persist", persist},
        {"other", other},
        {"network", std::max(0.0, all.mean_ns / 1e3 - crc - persist - other)}};
    const auto part = parts.find(slot.point.part);
    return part == parts.end() ? std::nullopt : std::optional(part->second);
  }
  if (slot.metric == "throughput_ops_per_s") {
    return report.ops_per_s;
  }
  if (slot.metric == "latency_p50_us") {
    return static_cast<double>(all.p50_ns) / 1e3;
  }
  if (slot.metric == "latency_p99_us") {
    return static_cast<double>(all.p99_ns) / 1e3;
  }
  if (slot.metric == "latency_mean_us") {
    return all.mean_ns / 1e3;
  }
  return std::nullopt;
}

struct Job {
  const figures::Figure* figure = nullptr;
  figures::FigureRun run;
  std::vector<std::vector<double>> values;  // by slot, of each repeat
  Status status;
};

void perform(Job& job, const figures::Profile& profile, const FiguresArguments& arguments) {
  job.values.resize(job.run.slots.size());
  for (std::uint64_t repeat = 0; repeat < arguments.repeats; ++repeat) {
    const Result<store_bench::ModelledReport> report =
        run_once(job.run.parameters, profile, arguments, arguments.seed + repeat);
    if (!report.ok()) {
      job.status = report.status();
      return;
    }
    for (std::size_t slot = 0; slot < job.run.slots.size(); ++slot) {
      if (const std::optional<double> value = value_of(*report, job.run.slots[slot])) {
        job.values[slot].push_back(*value);
      }
    }
  }
}

Status observe(const Job& job, figures::Observations& observations) {
  for (std::size_t slot = 0; slot < job.run.slots.size(); ++slot) {
    std::vector<double> values = job.values[slot];
    if (values.empty()) {
      continue;
    }
    std::ranges::sort(values);
    double sum = 0;
    for (const double value : values) {
      sum += value;
    }
    const double mean =
        std::clamp(sum / static_cast<double>(values.size()), values.front(), values.back());
    REMORA_TRY(observations.add(*job.figure, figures::Origin::modelled, job.run.slots[slot].point,
                                {mean, values.front(), values.back()}));
  }
  return {};
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
  fmt::print("{:8} {:8} {:12} {:9} {}\n", "claim", "figure", "modelled", "verdict", "reason");
  for (const figures::Judgement& judgement : judgements) {
    fmt::print("{:8} {:8} {:12} {:9} {}\n", judgement.claim.id, judgement.claim.figure,
               text_of(judgement.modelled), figures::to_string(judgement.verdict),
               judgement.reason);
  }
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
  std::vector<Job> jobs;
  for (const figures::Figure* figure : *chosen) {
    for (figures::FigureRun& run : figures::runs_of(*figure)) {
      jobs.push_back({figure, std::move(run), {}, {}});
    }
  }
  fmt::print(stderr, "figures: {} figure(s), {} modelled run(s), seed {}\n", chosen->size(),
             jobs.size(), arguments.seed);
  {
    Progress progress("figures", "runs", jobs.size());
    std::mutex mutex;
    std::uint64_t finished = 0;
    parallel_for(jobs.size(), arguments.threads, [&](std::size_t index) {
      perform(jobs[index], library->paper(jobs[index].figure->paper)->profile, arguments);
      const std::lock_guard lock(mutex);
      progress.show(++finished);
    });
  }
  figures::Observations observations;
  for (const Job& job : jobs) {
    if (!job.status.ok()) {
      fmt::print(stderr, "figures: {}: {}: {}\n", job.figure->key(),
                 figures::to_text(job.run.parameters), job.status.message());
      continue;
    }
    if (Status status = observe(job, observations); !status.ok()) {
      return fail(status);
    }
  }
  figures::Provenance provenance;
  provenance.command =
      fmt::format("remora figures {} --seed {} --ops {} --records {} --repeats {}", arguments.name,
                  arguments.seed, arguments.operations, arguments.records, arguments.repeats);
  provenance.version = REMORA_VERSION;
  provenance.seed = arguments.seed;
  const Result<figures::Report> report =
      figures::write_report(*library, *chosen, observations, provenance, arguments.out);
  if (!report.ok()) {
    return fail(report.status());
  }
  if (arguments.json) {
    fmt::print("{}\n", figures::to_json(report->judgements));
  } else {
    print_table(report->judgements);
    fmt::print("\nmodelled, by the profiles of the papers' hardware; the page is {}\n",
               report->page.string());
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
  command->add_option("--ops", arguments->operations, "Operations that each run measures")
      ->capture_default_str()
      ->check(CLI::Range(100, 10'000'000));
  command->add_option("--records", arguments->records, "Records that each run loads first")
      ->capture_default_str()
      ->check(CLI::Range(10, 10'000'000));
  command->add_option("--repeats", arguments->repeats, "Runs of each point, by seeds that follow")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_option("--seed", arguments->seed, "Seed of the first run")->capture_default_str();
  command->add_option("--threads", arguments->threads, "Threads to use; 0 means one for each core")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print the verdicts as JSON");
  command->footer(
      "A verdict is within, beyond, short, or no data. A claim that falls short is a finding, and\n"
      "the exit status is 0 all the same.");
  command->callback([arguments, &exit_status] { exit_status = run_figures(*arguments); });
}

}  // namespace remora::cli
