// The persist calls of the engine, muted one at a time: each must be missed, but for those that are
// listed with the reason why no run can miss them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <string>

#include "kv/efactory/engine.h"
#include "sim/crash/campaign.h"
#include "sim/stores/store_subject.h"

namespace remora::sim {
namespace {

// By what stands on their line.
//   set_next, set_previous  links are followed only by the life that made them; recovery goes by
//                           sequence numbers
//   set_durable             without the flag recovery computes the checksum, and finds the same
//   log_->seal() in put     the put is acknowledged as visible; what makes it persistent drains too
constexpr std::array not_missed = {"set_next(", "set_previous(", "set_durable(",
                                   "header_not_persisted) ? Ticket{} : log_->seal()"};

std::string source_line(const SiteKey& key) {
  const std::size_t src = key.file.find("src/kv/");
  std::ifstream file(REMORA_SOURCE "/" + key.file.substr(std::min(src, key.file.size())));
  std::string text;
  for (std::uint32_t line = 0; line < key.line && std::getline(file, text); ++line) {
  }
  return text;
}

bool is_known(const SiteKey& key) {
  const std::string line = source_line(key);
  EXPECT_FALSE(line.empty()) << to_string(key);
  return std::ranges::any_of(
      not_missed, [&line](const char* text) { return line.find(text) != std::string::npos; });
}

// Where a WRITE is persistent as soon as it is visible, a late one needs nobody to help it: this is
// where a lost mark that it came too late shows.
bool is_missed_without_ddio(const StoreSubject& subject, const SiteKey& key) {
  const std::unique_ptr<CrashWorker> worker = subject.worker();
  worker->sites().mute(key);
  CrashCount count;
  CrashRun run;
  run.settings.ddio = false;
  run.settings.granularity = Granularity::cache_line;
  for (run.seed = 1; run.seed <= 3000; ++run.seed) {
    if (worker->run(run, count)) {
      return true;
    }
  }
  return false;
}

TEST(StoreMutants, none_survives_but_those_that_are_known) {
  const StoreSubject subject(kv::efactory::engine());
  CampaignOptions options;
  options.runs = 300;
  const MutantReport report = run_mutants(subject, options);
  EXPECT_TRUE(report.unmuted_violations.empty());
  EXPECT_GT(report.mutants.size(), 10u);
  for (const Mutant& mutant : report.mutants) {
    const SiteKey& key = mutant.site.key;
    if (is_known(key)) {
      EXPECT_FALSE(mutant.killed) << to_string(key) << " is missed: take it from the list; seed "
                                  << mutant.violation.seed << ": " << mutant.violation.explanation;
    } else {
      EXPECT_TRUE(mutant.killed || is_missed_without_ddio(subject, key))
          << to_string(key) << " is muted, and nothing misses it";
    }
  }
}

}  // namespace
}  // namespace remora::sim
