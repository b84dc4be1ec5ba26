// remora systems: everything that has a name, from the table that all commands read.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/systems.h"
#include "lab/subjects/subjects.h"

namespace remora::cli {
namespace {

struct SystemsArguments {
  std::string kind;
  bool names = false;
  bool json = false;
};

bool is_chosen(const Descriptor& system, std::optional<SystemKind> kind) {
  return !kind || system.kind == *kind;
}

nlohmann::ordered_json to_json(const CrashSubject& subject) {
  const Descriptor& system = subject.descriptor();
  nlohmann::ordered_json faults = nlohmann::ordered_json::array();
  for (const Fault* fault : system.faults) {
    faults.push_back(fault->name);
  }
  nlohmann::ordered_json counters = nlohmann::ordered_json::array();
  for (const CounterText& counter : system.counters) {
    counters.push_back({{"name", counter.counter},
                        {"metric", counter.metric},
                        {"help", counter.help},
                        {"grows", counter.grows}});
  }
  return {{"name", system.name},          {"kind", to_string(system.kind)},
          {"about", system.about},        {"rival", system.is_rival},
          {"paper", system.paper},        {"section", system.section},
          {"promise", subject.promise()}, {"caveat", system.caveat},
          {"unsummed", system.unsummed},  {"faults", faults},
          {"sources", system.sources},    {"counters", counters}};
}

void print_names(std::optional<SystemKind> kind) {
  for (const CrashSubject* subject : lab::subjects()) {
    if (is_chosen(subject->descriptor(), kind)) {
      fmt::print("{}\n", subject->name());
    }
  }
}

int systems(const SystemsArguments& arguments) {
  std::optional<SystemKind> kind;
  if (!arguments.kind.empty()) {
    kind = arguments.kind == "store" ? SystemKind::store : SystemKind::part;
  }
  if (arguments.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CrashSubject* subject : lab::subjects()) {
      if (is_chosen(subject->descriptor(), kind)) {
        list.push_back(to_json(*subject));
      }
    }
    print_json(list);
  } else {
    arguments.names ? print_names(kind) : print_systems(kind);
  }
  return exit_kept;
}

}  // namespace

void print_systems(std::optional<SystemKind> kind) {
  for (const CrashSubject* subject : lab::subjects()) {
    const Descriptor& system = subject->descriptor();
    if (is_chosen(system, kind)) {
      fmt::print("{:26}{:8}{:8}{}\n", system.name, to_string(system.kind),
                 system.is_rival ? "rival" : "ours", system.about);
    }
  }
}

void add_systems_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("systems", "Every store engine and part that has a name, and what it is");
  const auto arguments = std::make_shared<SystemsArguments>();
  command->add_option("--kind", arguments->kind, "Only these: part or store")
      ->check(CLI::IsMember({"part", "store"}));
  command->add_flag("--names", arguments->names, "Print the names alone, one on a line");
  command->add_flag("--json", arguments->json, "Print JSON, with papers, bugs and counters");
  command->callback([arguments, &exit_status] { exit_status = systems(*arguments); });
}

}  // namespace remora::cli
