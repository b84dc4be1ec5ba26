#include "cli/demo/demo.h"

#include <fmt/core.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/exit_status.h"
#include "lab/crash/campaign.h"
#include "lab/lives/kill_lives.h"
#include "lab/subjects/subjects.h"
#include "pmem/pool_file.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

// Gone with the demo.
class DemoFolder {
 public:
  static Result<std::unique_ptr<DemoFolder>> make(const std::string& parent) {
    std::error_code ignored;
    std::filesystem::create_directories(parent, ignored);
    std::string path = parent + "/demo-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
      return os_failure("cannot make a folder in " + parent, errno);
    }
    return std::unique_ptr<DemoFolder>(new DemoFolder(path));
  }
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;
  ~DemoFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit DemoFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

void say(const char* text) {
  fmt::print("{}", text);
  std::fflush(stdout);
}

Status pool_is_sound(const std::string& path) {
  Result<PoolFile> file = PoolFile::inspect(path);
  return file.ok() ? file->pool().check_in_full() : file.status();
}

// --- kill -9 ---

Status show_kills(const DemoArguments& arguments, const std::string& folder) {
  say("1. A store, and kill -9\n\n"
      "   A server process keeps keys and values in a file. Twelve writers put, read and delete\n"
      "   as fast as they can. For some puts they wait until the server says `persistent`: that\n"
      "   is a promise. Then the server is killed in the middle of it all, with no warning, and\n"
      "   started again; and every key is compared with what its writer was told.\n\n");
  lab::KillLives lives({.program = "/proc/self/exe",
                        .folder = folder,
                        .seed = arguments.seed,
                        .serve = {"--size", "16M"},
                        .longest_life_ops = 4000});
  for (std::uint64_t life = 1; life <= arguments.kills; ++life) {
    REMORA_TRY(lives.start_and_check());
    REMORA_TRY_RESULT(report, lives.live_and_kill());
    fmt::print(
        "   kill {}: {} operations acknowledged, {} of them persistent; {} were cut off in "
        "the middle\n",
        life, report->acknowledged, report->acknowledged_persistent, report->in_flight);
    std::fflush(stdout);
    REMORA_TRY(pool_is_sound(folder + "/kill.pool"));
  }
  REMORA_TRY(lives.start_and_check());
  fmt::print(
      "\n   After every kill: nothing that was acknowledged is lost, no value is torn, the\n"
      "   file is sound. {} keys were compared; the last restart took {:.0f} ms.\n\n",
      lives.keys_checked(), static_cast<double>(lives.restart_ns()) / 1e6);
  return lives.stop();
}

// --- Power cuts ---

CampaignReport cut_power(const CrashSubject& subject, const DemoArguments& arguments,
                         const Faults& faults, std::uint64_t runs, const char* what) {
  CampaignOptions options;
  options.runs = runs;
  options.seed = arguments.seed;
  options.faults = faults;
  options.most_violations = 1;
  Progress progress(what, "runs", runs);
  options.progress = [&progress](std::uint64_t done) { progress.show(done); };
  return run_campaign(subject, options);
}

bool show_cuts(const DemoArguments& arguments, const CrashSubject& subject) {
  say("2. Power cuts\n\n"
      "   A kill leaves the computer's memory as it is. A power cut does not: whatever was still\n"
      "   on its way, in a cache or in the network card, is kept or lost by chance, word by word.\n"
      "   No program can cut its own power, so the server's own code now runs on memory that can\n"
      "   lose it, at every moment that a seed chooses, and again while it recovers.\n\n");
  const CampaignReport report =
      cut_power(subject, arguments, Faults(), arguments.cut_runs, "demo: power cuts");
  fmt::print("   {} runs, {} power cuts, {} recoveries: {}\n\n", report.runs, report.cuts,
             report.images,
             report.violations.empty() ? "every promise kept" : "A PROMISE WAS BROKEN");
  for (const CrashViolation& violation : report.violations) {
    fmt::print("   seed {}: {}\n\n", violation.seed, violation.explanation);
  }
  return report.violations.empty();
}

bool show_mistake(const DemoArguments& arguments, const CrashSubject& subject) {
  say("3. Would it notice a mistake?\n\n"
      "   A proof that cannot fail proves nothing. So the same again, with a mistake planted in\n"
      "   the server, one that is easily made:\n");
  const Fault* planted = nullptr;
  for (const Fault* fault : subject.faults()) {
    planted = fault->name == std::string_view("efactory-del-not-persisted") ? fault : planted;
  }
  planted = planted == nullptr ? subject.faults().front() : planted;
  fmt::print("     {}: {}\n\n", planted->name, planted->what);
  const CampaignReport report =
      cut_power(subject, arguments, Faults(*planted), 2000, "demo: planted mistake");
  if (report.violations.empty()) {
    fmt::print("   It was NOT noticed in {} runs.\n\n", report.runs);
    return false;
  }
  const CrashViolation& found = report.violations.front();
  fmt::print(
      "   Noticed, with seed {}: {}\n   {}\n   See it again: remora crash --engine {} --runs 1 "
      "--seed {} --plant {}\n\n",
      found.seed, found.rule, found.explanation, subject.name(), found.seed, planted->name);
  return true;
}

}  // namespace

int demo_command(const DemoArguments& arguments) {
  const Result<std::unique_ptr<DemoFolder>> folder = DemoFolder::make(arguments.folder);
  if (!folder.ok()) {
    return fail(folder.status());
  }
  fmt::print(
      "Remora keeps what it was given, and says exactly when. Less than a minute; seed {}.\n\n",
      arguments.seed);
  const Status kills = show_kills(arguments, (*folder)->path());
  if (!kills.ok()) {
    fmt::print("   LOST: {}\n", kills.message());
    return kills.code() == Code::damaged ? exit_broken : fail(kills);
  }
  const Result<const CrashSubject*> subject = lab::find_subject("efactory");
  if (!subject.ok()) {
    return fail(subject.status());
  }
  const bool kept = show_cuts(arguments, **subject);
  const bool noticed = show_mistake(arguments, **subject);
  if (!kept || !noticed) {
    say("Something above should not be: please report it, with the seed.\n");
    return exit_broken;
  }
  say("Nothing that was acknowledged as persistent was lost. Try it: ./run\n");
  return exit_kept;
}

}  // namespace remora::cli
