// remora systems: everything that has a name, from the table that all commands read.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/systems.h"
#include "lab/subjects/subjects.h"
#include "rpc/designs/design.h"

namespace remora::cli {
namespace {

struct SystemsArguments {
  std::string kind;
  bool names = false;
  bool json = false;
};

// Parts and stores, which power cuts hold to a promise, and designs of RPC.
struct System {
  const Descriptor* descriptor;
  std::string kind;
  std::string promise;
};

std::vector<System> all_systems() {
  std::vector<System> all;
  for (const CrashSubject* subject : lab::subjects()) {
    all.push_back({&subject->descriptor(), std::string(to_string(subject->descriptor().kind)),
                   std::string(subject->promise())});
  }
  for (const rpc::Design* design : rpc::designs()) {
    all.push_back({&design->descriptor, "rpc design",
                   std::string(design->is_durable ? rpc::durable_promise : rpc::rival_promise)});
  }
  return all;
}

nlohmann::ordered_json to_json(const System& listed) {
  const Descriptor& system = *listed.descriptor;
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
  return {{"name", system.name},       {"kind", listed.kind},       {"about", system.about},
          {"rival", system.is_rival},  {"paper", system.paper},     {"section", system.section},
          {"promise", listed.promise}, {"caveat", system.caveat},   {"unsummed", system.unsummed},
          {"faults", faults},          {"sources", system.sources}, {"counters", counters}};
}

void print_line(const Descriptor& system, std::string_view kind) {
  fmt::print("{:26}{:12}{:8}{}\n", system.name, kind, system.is_rival ? "rival" : "ours",
             system.about);
}

int systems(const SystemsArguments& arguments) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const std::string kind = arguments.kind == "rpc-design" ? "rpc design" : arguments.kind;
  for (const System& system : all_systems()) {
    if (!kind.empty() && system.kind != kind) {
      continue;
    }
    if (arguments.json) {
      list.push_back(to_json(system));
    } else if (arguments.names) {
      fmt::print("{}\n", system.descriptor->name);
    } else {
      print_line(*system.descriptor, system.kind);
    }
  }
  if (arguments.json) {
    print_json(list);
  }
  return exit_kept;
}

}  // namespace

void print_subjects() {
  for (const CrashSubject* subject : lab::subjects()) {
    print_line(subject->descriptor(), to_string(subject->descriptor().kind));
  }
}

void add_systems_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "systems", "Every store engine, part and RPC design that has a name, and what it is");
  const auto arguments = std::make_shared<SystemsArguments>();
  command->add_option("--kind", arguments->kind, "Only these: part, store or rpc-design")
      ->check(CLI::IsMember({"part", "store", "rpc-design"}));
  command->add_flag("--names", arguments->names, "Print the names alone, one on a line");
  command->add_flag("--json", arguments->json, "Print JSON, with papers, bugs and counters");
  command->callback([arguments, &exit_status] { exit_status = systems(*arguments); });
}

}  // namespace remora::cli
