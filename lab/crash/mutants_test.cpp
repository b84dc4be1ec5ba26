// Every persist call of the pool is needed: mute any of them and the crash world notices. The calls
// themselves are read from the source, so that one that no run passes is noticed too.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "lab/crash/campaign.h"
#include "lab/crash/pool_subject.h"

namespace remora {
namespace {

// "redo_log.cpp:52 flush"
std::string name_of(const std::string& file, std::size_t line, const std::string& kind) {
  return std::filesystem::path(file).filename().string() + ":" + std::to_string(line) + " " + kind;
}

bool belongs_to_the_pool(const std::string& file) {
  return (file.starts_with("pool") || file.starts_with("redo_log")) && file.ends_with(".cpp") &&
         !file.ends_with("_test.cpp") && file != "pool_mistakes.cpp" && file != "pool_file.cpp";
}

std::set<std::string> sites_in_source() {
  const std::regex call(R"(region_?(?:\.|->)(flush|drain|persist|copy)\()");
  std::set<std::string> sites;
  for (const auto& entry : std::filesystem::directory_iterator(REMORA_SOURCE "/src/pmem")) {
    if (!belongs_to_the_pool(entry.path().filename().string())) {
      continue;
    }
    std::ifstream file(entry.path());
    std::string text;
    for (std::size_t line = 1; std::getline(file, text); ++line) {
      for (std::sregex_iterator match(text.begin(), text.end(), call), end; match != end; ++match) {
        const std::string kind = (*match)[1];
        if (kind == "persist") {
          sites.insert(name_of(entry.path(), line, "flush"));
          sites.insert(name_of(entry.path(), line, "drain"));
        } else {
          sites.insert(name_of(entry.path(), line, kind));
        }
      }
    }
  }
  return sites;
}

TEST(PoolMutants, none_survives_and_every_persist_call_ran) {
  CampaignOptions options;
  options.runs = 1500;
  const MutantReport report = run_mutants(PoolSubject(), options);
  EXPECT_TRUE(report.unmuted_violations.empty());
  std::set<std::string> seen;
  for (const Mutant& mutant : report.mutants) {
    const SiteKey& key = mutant.site.key;
    EXPECT_TRUE(mutant.killed) << "no test misses the call at " << to_string(key);
    seen.insert(name_of(key.file, key.line, std::string(to_string(key.kind))));
  }
  EXPECT_EQ(seen, sites_in_source());
}

}  // namespace
}  // namespace remora
