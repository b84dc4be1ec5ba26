// corruption_campaign: damages pools, one place at a time, and tells what was noticed. Exits with 0
// when nothing before the marks was silent, and with 1 otherwise. With --rivals the pools are those
// of each rival, which are held to their own claims.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/progress.h"
#include "tests/corruption/campaign.h"
#include "tests/corruption/rivals.h"

int main(int argc, char** argv) {
  using namespace remora::corruption;
  CLI::App app("Seeded corruptions of a pool and its store");
  CampaignOptions options;
  bool json = false;
  bool verbose = false;
  bool rivals_instead = false;
  app.add_option("--count", options.count, "How many corruptions")->capture_default_str();
  app.add_option("--seed", options.seed, "All chance comes from it")->capture_default_str();
  app.add_option("--first", options.first, "The number of the first, to see one again")
      ->capture_default_str();
  app.add_flag("--rivals", rivals_instead, "So many of each rival instead");
  app.add_flag("--json", json, "Print JSON");
  app.add_flag("--verbose", verbose, "Tell of each on standard error");
  CLI11_PARSE(app, argc, argv);
  if (rivals_instead) {
    const RivalTally tally = run_rivals(options, [&](const RivalCase& one) {
      if (verbose) {
        fmt::print(stderr, "#{} {}, {}, {}: {}: {}\n", one.number, one.rival, one.image,
                   describe(one.damage), to_string(one.outcome), one.detail);
      }
    });
    fmt::print("{}\n", as_table(tally));
    return tally.passed() ? 0 : 1;
  }
  remora::Progress progress("corruption", "corruptions", options.count);
  std::uint64_t done = 0;
  const Tally tally = run_campaign(options, [&](const Case& one) {
    if (verbose) {
      fmt::print(stderr, "#{} {}, {}: {}: {}\n", one.number, one.image, describe(one.damage),
                 to_string(one.verdict.outcome), one.verdict.detail);
    }
    progress.show(++done);
  });
  fmt::print("{}\n", json ? as_json(options, tally) : as_table(tally));
  return tally.passed() ? 0 : 1;
}
