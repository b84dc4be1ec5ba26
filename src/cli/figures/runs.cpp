#include "cli/figures/runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "lab/figures/runs.h"
#include "runtime/parallel.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

struct Job {
  const figures::Figure* figure = nullptr;
  figures::FigureRun run;
  const lab::Experiment* experiment = nullptr;
  figures::Origin origin = figures::Origin::modelled;
  std::vector<std::vector<double>> values = {};  // by slot, of each repeat
  bool is_burst = false;
  double persistent_share = 1;  // the least of the repeats
  Status status = {};
};

link::WireKind wire_of(const FiguresArguments& arguments) {
  return link::parse_wire_kind(arguments.measured).value_or(link::WireKind::ring);
}

void perform(Job& job, const figures::Profile& profile, const FiguresArguments& arguments) {
  job.values.resize(job.run.slots.size());
  for (std::uint64_t repeat = 0; repeat < arguments.repeats; ++repeat) {
    lab::FigureRunOptions options = arguments.run;
    options.seed += repeat;
    const Result<lab::FigureValues> values =
        job.origin == figures::Origin::modelled
            ? job.experiment->model(job.run, profile, options)
            : job.experiment->measure(job.run, wire_of(arguments), options);
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
void perform_all(std::vector<Job>& jobs, const FiguresArguments& arguments) {
  Progress progress("figures", "runs", jobs.size());
  std::mutex mutex;
  std::uint64_t finished = 0;
  const auto perform_one = [&](Job& job) {
    perform(job, job.figure->profile, arguments);
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

// What is to be run; and where nothing is to be measured, why.
std::vector<Job> jobs_of(const std::vector<const figures::Figure*>& chosen,
                         const FiguresArguments& arguments, figures::Observations& observations) {
  std::vector<Job> jobs;
  for (const figures::Figure* figure : chosen) {
    for (figures::FigureRun& run : figures::runs_of(*figure)) {
      const lab::Experiment& experiment = lab::experiment_of(run.parameters);
      const std::string obstacle = arguments.measured == "none"
                                       ? "--measured ring, mapped or roce does it"
                                       : experiment.why_not_measured(run);
      if (obstacle.empty()) {
        jobs.push_back({figure, run, &experiment, figures::Origin::measured});
      } else {
        observations.explain(*figure, figures::Origin::measured, obstacle);
      }
      jobs.push_back({figure, std::move(run), &experiment});
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

}  // namespace

Result<FigureRuns> run_all(const std::vector<const figures::Figure*>& chosen,
                           const FiguresArguments& arguments, figures::Observations& observations) {
  std::vector<Job> jobs = jobs_of(chosen, arguments, observations);
  fmt::print(stderr, "figures: {} figure(s), {} run(s), measured on {}, seed {}\n", chosen.size(),
             jobs.size(), arguments.measured, arguments.run.seed);
  perform_all(jobs, arguments);
  const FigureRuns runs{jobs.size(), report_failures(jobs, observations)};
  for (const Job& job : jobs) {
    if (job.status.ok()) {
      REMORA_TRY(observe(job, observations));
    }
  }
  return runs;
}

}  // namespace remora::cli
