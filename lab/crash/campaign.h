// Campaign: many seeded runs of a subject. Run i has the seed `seed + i`, so a violation is
// replayed by its own seed and one run. The result depends on the options alone, not on the
// threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lab/crash/subject.h"

namespace remora {

struct CampaignOptions {
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  CrashSettings settings;
  Faults faults;
  std::optional<Promise> hold_to = std::nullopt;  // as CrashRun has it
  std::string_view only_rule = {};                // violations of other rules do not count
  std::size_t threads = 0;                        // 0: as many as the machine has
  std::uint64_t most_violations = 10;  // stop after the batch in which so many were found
  // Called now and then from the caller's thread with the runs that are over.
  std::function<void(std::uint64_t runs)> progress;
};

struct CampaignReport {
  std::uint64_t runs = 0;
  std::uint64_t cuts = 0;
  std::uint64_t images = 0;
  std::uint64_t distinct_images = 0;
  std::vector<CrashViolation> violations;  // by ascending seed
  std::vector<SiteEntry> sites;
};

CampaignReport run_campaign(const CrashSubject& subject, const CampaignOptions& options);

// One muted call in the source.
struct Mutant {
  SiteEntry site;
  bool killed = false;
  CrashViolation violation;  // where it was noticed
  std::uint64_t runs = 0;    // it took so many
};

struct MutantReport {
  std::vector<Mutant> mutants;
  std::vector<SiteEntry> others;  // passed, and not muted: another subject must answer for them
  std::vector<CrashViolation> unmuted_violations;  // must be empty, or the rest means nothing
};

// Passes every persist site once by running `options.runs` seeds, then mutes each in turn and runs
// until it is noticed, at most `options.runs` seeds. A call that nobody misses there gets as many
// on the same platform with DDIO the other way round: some calls are for WRITEs that are persistent
// by themselves, some for those that are not.
MutantReport run_mutants(const CrashSubject& subject, const CampaignOptions& options);

}  // namespace remora
