#include "lab/crash/campaign.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/parallel.h"

namespace remora {
namespace {

// Seeds run in batches; results are gathered in the order of the seeds. The first batches are
// small: who looks for one violation often has it soon.
constexpr std::uint64_t first_batch_runs = 16;
constexpr std::uint64_t largest_batch_runs = 128;

// Workers that are free. Each has buffers worth keeping.
class Workers {
 public:
  explicit Workers(const CrashSubject& subject) : subject_(subject) {}

  std::unique_ptr<CrashWorker> take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) {
      return subject_.worker();
    }
    std::unique_ptr<CrashWorker> worker = std::move(free_.back());
    free_.pop_back();
    return worker;
  }

  void give(std::unique_ptr<CrashWorker> worker) {
    std::lock_guard lock(mutex_);
    free_.push_back(std::move(worker));
  }

  // The sites of all workers together. None may be taken.
  std::vector<SiteEntry> sites() const {
    std::map<SiteKey, SiteEntry> together;
    for (const auto& worker : free_) {
      for (SiteEntry& site : worker->sites().list()) {
        auto [entry, added] = together.try_emplace(site.key, site);
        if (!added) {
          entry->second.calls += site.calls;
        }
      }
    }
    std::vector<SiteEntry> list;
    for (auto& [key, site] : together) {
      list.push_back(std::move(site));
    }
    return list;
  }

 private:
  const CrashSubject& subject_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<CrashWorker>> free_;
};

struct Piece {
  std::optional<CrashViolation> violation;
  CrashCount count;
};

}  // namespace

CampaignReport run_campaign(const CrashSubject& subject, const CampaignOptions& options) {
  CampaignReport report;
  DistinctHashes distinct;
  Workers workers(subject);
  while (report.runs < options.runs && report.violations.size() < options.most_violations) {
    const std::uint64_t batch = std::min(
        {std::max(first_batch_runs, report.runs), largest_batch_runs, options.runs - report.runs});
    std::vector<Piece> pieces(batch);
    parallel_for(batch, options.threads, [&](std::size_t index) {
      std::unique_ptr<CrashWorker> worker = workers.take();
      const CrashRun run{options.seed + report.runs + index, options.settings, options.faults,
                         options.hold_to};
      pieces[index].violation = worker->run(run, pieces[index].count);
      workers.give(std::move(worker));
    });
    for (Piece& piece : pieces) {
      report.cuts += piece.count.cuts;
      report.images += piece.count.images;
      piece.count.distinct.for_each([&](std::uint64_t hash) { distinct.insert(hash); });
      if (piece.violation &&
          (options.only_rule.empty() || piece.violation->rule == options.only_rule)) {
        report.violations.push_back(std::move(*piece.violation));
      }
    }
    report.runs += batch;
    if (options.progress) {
      options.progress(report.runs);
    }
  }
  report.distinct_images = distinct.count();
  report.sites = workers.sites();
  return report;
}

namespace {

Mutant run_mutant(CrashWorker& worker, const SiteEntry& site, const CampaignOptions& options) {
  Mutant mutant{site, false, {}, 0};
  worker.sites().unmute_all();
  worker.sites().mute(site.key);
  CrashCount count;
  CrashSettings other = options.settings;
  other.ddio = !other.ddio;
  for (const CrashSettings& settings : {options.settings, other}) {
    for (std::uint64_t i = 0; !mutant.killed && i < options.runs; ++i, ++mutant.runs) {
      const CrashRun run{options.seed + i, settings, options.faults, options.hold_to};
      if (std::optional<CrashViolation> violation = worker.run(run, count)) {
        mutant.killed = true;
        mutant.violation = std::move(*violation);
      }
    }
  }
  worker.sites().unmute_all();
  return mutant;
}

}  // namespace

MutantReport run_mutants(const CrashSubject& subject, const CampaignOptions& options) {
  MutantReport report;
  CampaignOptions survey = options;
  survey.progress = nullptr;
  CampaignReport unmuted = run_campaign(subject, survey);
  report.unmuted_violations = std::move(unmuted.violations);
  const auto others = std::ranges::stable_partition(
      unmuted.sites, [&subject](const SiteEntry& site) { return subject.owns(site.key); });
  report.others.assign(others.begin(), others.end());
  unmuted.sites.erase(others.begin(), others.end());
  report.mutants.resize(unmuted.sites.size());
  Workers workers(subject);
  parallel_for(unmuted.sites.size(), options.threads, [&](std::size_t index) {
    std::unique_ptr<CrashWorker> worker = workers.take();
    report.mutants[index] = run_mutant(*worker, unmuted.sites[index], options);
    workers.give(std::move(worker));
  });
  return report;
}

}  // namespace remora
