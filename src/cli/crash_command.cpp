// remora crash: power cuts by seed, and the proof that they would be noticed.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/granularity_words.h"
#include "cli/json_output.h"
#include "cli/questions.h"
#include "cli/systems.h"
#include "cli/validators.h"
#include "lab/check/promise.h"
#include "lab/crash/campaign.h"
#include "lab/subjects/subjects.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

struct CrashArguments {
  std::string engine = "pool";
  std::uint64_t runs = 1000;
  std::uint64_t seed = 1;
  std::string domain = "dmp";
  std::string ddio = "on";
  std::string flush = "platform";
  std::string granularity = "any";
  std::string plant;
  std::string hold_to = "own";
  std::uint64_t most_violations = 10;
  std::size_t threads = 0;
  bool list_plants = false;
  bool mutants = false;
  bool json = false;
};

Result<CrashSettings> parse_settings(const CrashArguments& arguments) {
  CrashSettings settings;
  REMORA_TRY_RESULT(domain, parse_domain(arguments.domain));
  REMORA_TRY_RESULT(ddio, parse_switch(arguments.ddio));
  REMORA_TRY_RESULT(flush, parse_flush_meaning(arguments.flush));
  REMORA_TRY_RESULT(granularity, parse_granularity(arguments.granularity));
  return CrashSettings{*domain, *ddio, *flush, *granularity};
}

Result<Faults> parse_plant(const CrashSubject& subject, const std::string& name) {
  if (name.empty()) {
    return Faults();
  }
  for (const Fault* fault : subject.faults()) {
    if (fault->name == name) {
      return Faults(*fault);
    }
  }
  return Status(Code::invalid_argument, "no bug '" + name +
                                            "' can be planted; see them with: remora crash "
                                            "--engine " +
                                            std::string(subject.name()) + " --list-plants");
}

std::string replay_command(const CrashArguments& arguments, std::uint64_t seed) {
  std::string text =
      fmt::format("remora crash --engine {} --runs 1 --seed {}", arguments.engine, seed);
  const CrashArguments defaults;
  const auto add = [&text](const char* option, const std::string& value, const std::string& usual) {
    if (value != usual) {
      text += fmt::format(" {} {}", option, value);
    }
  };
  add("--domain", arguments.domain, defaults.domain);
  add("--ddio", arguments.ddio, defaults.ddio);
  add("--flush", arguments.flush, defaults.flush);
  add("--granularity", arguments.granularity, defaults.granularity);
  add("--plant", arguments.plant, defaults.plant);
  add("--hold-to", arguments.hold_to, defaults.hold_to);
  return text;
}

nlohmann::ordered_json to_json(const CrashViolation& violation, const CrashArguments& arguments) {
  return {{"seed", violation.seed},
          {"platform", violation.platform},
          {"rule", violation.rule},
          {"explanation", violation.explanation},
          {"stricter_than_x86", violation.stricter_than_x86},
          {"replay", replay_command(arguments, violation.seed)}};
}

void print_violation(const CrashViolation& violation, const CrashArguments& arguments) {
  fmt::print("  seed {} ({}): {}: {}{}\n", violation.seed, violation.platform, violation.rule,
             violation.explanation,
             violation.stricter_than_x86 ? " [needs a line torn, stricter than x86]" : "");
  fmt::print("    replay: {}\n", replay_command(arguments, violation.seed));
}

int run_cuts(const CrashSubject& subject, const CrashArguments& arguments,
             CampaignOptions options) {
  CampaignReport report;
  {
    Progress progress("crash " + arguments.engine, "runs", options.runs);
    options.progress = [&progress](std::uint64_t runs) { progress.show(runs); };
    report = run_campaign(subject, options);
  }
  if (arguments.json) {
    nlohmann::ordered_json violations = nlohmann::ordered_json::array();
    for (const CrashViolation& violation : report.violations) {
      violations.push_back(to_json(violation, arguments));
    }
    const nlohmann::ordered_json json = {
        {"engine", arguments.engine}, {"seed", arguments.seed},
        {"runs", report.runs},        {"cuts", report.cuts},
        {"images", report.images},    {"distinct_images", report.distinct_images},
        {"domain", arguments.domain}, {"ddio", arguments.ddio},
        {"flush", arguments.flush},   {"granularity", arguments.granularity},
        {"plant", arguments.plant},   {"hold_to", arguments.hold_to},
        {"violations", violations}};
    print_json(json);
  } else {
    fmt::print("{} {}, {} power cuts, {} images recovered ({} distinct)\n", report.runs,
               report.runs == 1 ? "run" : "runs", report.cuts, report.images,
               report.distinct_images);
    fmt::print("promise {}: {}\n", report.violations.empty() ? "kept" : "BROKEN",
               options.hold_to ? to_text(*options.hold_to) : std::string(subject.promise()));
    for (const CrashViolation& violation : report.violations) {
      print_violation(violation, arguments);
    }
  }
  return report.violations.empty() ? exit_kept : exit_broken;
}

std::string short_name(const SiteKey& key) {
  const std::size_t slash = key.file.rfind('/');
  const std::string file = slash == std::string::npos ? key.file : key.file.substr(slash + 1);
  return fmt::format("{}:{}:{} {}", file, key.line, key.column, to_string(key.kind));
}

nlohmann::ordered_json to_json(const Mutant& mutant) {
  return {{"site", short_name(mutant.site.key)},
          {"function", mutant.site.function},
          {"calls", mutant.site.calls},
          {"runs", mutant.runs}};
}

int run_mutants_of(const CrashSubject& subject, const CrashArguments& arguments,
                   const CampaignOptions& options) {
  if (subject.descriptor().sources.empty()) {
    return fail(Status(Code::invalid_argument,
                       std::string(subject.name()) +
                           " answers for no persist calls; choose a store, the log or the pool"));
  }
  const MutantReport report = run_mutants(subject, options);
  nlohmann::ordered_json unanswered = nlohmann::ordered_json::array();
  for (const SiteEntry& site : report.others) {
    if (!lab::is_answered_for(site.key)) {
      unanswered.push_back(to_string(site.key));
    }
  }
  nlohmann::ordered_json survivors = nlohmann::ordered_json::array();
  nlohmann::ordered_json killed = nlohmann::ordered_json::array();
  for (const Mutant& mutant : report.mutants) {
    (mutant.killed ? killed : survivors).push_back(to_json(mutant));
  }
  const bool sound = survivors.empty() && unanswered.empty() && report.unmuted_violations.empty();
  if (arguments.json) {
    nlohmann::ordered_json violations = nlohmann::ordered_json::array();
    for (const CrashViolation& violation : report.unmuted_violations) {
      violations.push_back(to_json(violation, arguments));
    }
    const nlohmann::ordered_json json = {
        {"engine", arguments.engine},     {"seed", arguments.seed},
        {"sites", report.mutants.size()}, {"killed", killed.size()},
        {"survivors", survivors},         {"killed_sites", killed},
        {"unanswered_sites", unanswered}, {"violations", violations}};
    print_json(json);
    return sound ? exit_kept : exit_broken;
  }
  for (const Mutant& mutant : report.mutants) {
    fmt::print("  {:8} {} in {}: {} calls, {} runs\n", mutant.killed ? "killed" : "SURVIVED",
               short_name(mutant.site.key), mutant.site.function, mutant.site.calls, mutant.runs);
  }
  fmt::print("{} persist sites, {} killed, {} survived\n", report.mutants.size(), killed.size(),
             survivors.size());
  for (const nlohmann::ordered_json& site : unanswered) {
    fmt::print("  nobody answers for {}: name its folder in a system's descriptor\n",
               site.get<std::string>());
  }
  for (const CrashViolation& violation : report.unmuted_violations) {
    print_violation(violation, arguments);
  }
  return sound ? exit_kept : exit_broken;
}

int list_plants(const CrashSubject& subject, bool json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Fault* fault : subject.faults()) {
    if (json) {
      list.push_back({{"name", fault->name}, {"what", fault->what}});
    } else {
      fmt::print("{:32} {}\n", fault->name, fault->what);
    }
  }
  if (json) {
    print_json(list);
  }
  return exit_kept;
}

int crash(const CrashArguments& arguments) {
  if (arguments.engine.empty()) {
    print_subjects();
    return exit_kept;
  }
  const Result<const CrashSubject*> subject = lab::find_subject(arguments.engine);
  if (!subject.ok()) {
    return fail(subject.status());
  }
  if (arguments.list_plants) {
    return list_plants(**subject, arguments.json);
  }
  Result<CrashSettings> settings = parse_settings(arguments);
  if (!settings.ok()) {
    return fail(settings.status());
  }
  Result<Faults> faults = parse_plant(**subject, arguments.plant);
  if (!faults.ok()) {
    return fail(faults.status());
  }
  Result<std::optional<Promise>> hold_to = parse_hold_to(arguments.hold_to);
  if (!hold_to.ok()) {
    return fail(hold_to.status());
  }
  if (*hold_to && !(*subject)->store_promise()) {
    return fail(Status(Code::invalid_argument, "only a store can be held to another promise"));
  }
  CampaignOptions options;
  options.hold_to = *hold_to;
  options.runs = arguments.runs;
  options.seed = arguments.seed;
  options.settings = *settings;
  options.faults = *faults;
  options.threads = arguments.threads;
  options.most_violations = arguments.most_violations;
  fmt::print(stderr,
             "crash: engine {}, seed {}, runs {}, domain {}, ddio {}, flush {}, granularity {}{}\n",
             arguments.engine, arguments.seed, arguments.runs, arguments.domain, arguments.ddio,
             arguments.flush, arguments.granularity,
             arguments.plant.empty() ? "" : ", planted " + arguments.plant);
  return arguments.mutants ? run_mutants_of(**subject, arguments, options)
                           : run_cuts(**subject, arguments, options);
}

}  // namespace

void add_crash_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("crash", "Cut the power by seed and check what survives");
  const auto arguments = std::make_shared<CrashArguments>();
  // With a default for its text, an option without a value would take that.
  command
      ->add_option("--engine", arguments->engine,
                   "What is held to its promise, the pool if nothing is said: " +
                       lab::subject_names() + "; without a name: says what each of them is")
      ->expected(0, 1);
  command->add_option("--runs", arguments->runs, "How many seeded runs")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--seed", arguments->seed, "Seed of the first run; run i has seed + i")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_option("--domain", arguments->domain, "Persistence domain: dmp, mhp or wsp")
      ->capture_default_str();
  command->add_option("--ddio", arguments->ddio, "Whether inbound DMA lands in the cache: on, off")
      ->capture_default_str();
  command->add_option("--flush", arguments->flush, "What an RDMA FLUSH reaches: platform or pcie")
      ->capture_default_str();
  command
      ->add_option("--granularity", arguments->granularity,
                   "Granularity of the medium: cache-line, page, or any (by the seed)")
      ->capture_default_str();
  command->add_option("--plant", arguments->plant, "Plant one bug, which must then be caught");
  command
      ->add_option("--hold-to", arguments->hold_to,
                   "Which promise: own, or, of a store, whole (never torn), monotonic (reads never "
                   "step back) or persistent (acknowledged means persistent)")
      ->capture_default_str();
  command->add_flag("--list-plants", arguments->list_plants, "List the bugs that can be planted");
  command->add_flag("--mutants", arguments->mutants,
                    "Mute every persist call in turn; each must be missed");
  command
      ->add_option("--most-violations", arguments->most_violations,
                   "Stop after about this many violations")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--threads", arguments->threads, "Threads to use; 0 means one for each core")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit_status] { exit_status = crash(*arguments); });
}

}  // namespace remora::cli
