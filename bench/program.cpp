#include "bench/program.h"

#include <cpuid.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/exit_status.h"

namespace remora::bench {
namespace {

std::string cpu_name() {
  std::array<unsigned, 12> words = {};
  for (unsigned i = 0; i < 3; ++i) {
    unsigned* at = &words[4 * i];
    if (__get_cpuid(0x80000002 + i, at, at + 1, at + 2, at + 3) == 0) {
      return "unknown";
    }
  }
  const char* text = reinterpret_cast<const char*>(words.data());
  return {text, strnlen(text, sizeof words)};
}

// The load of the machine: what else is running while we measure.
double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// How long this thread has run, and how long it was ready and waited for a core.
struct CpuShare {
  std::uint64_t ran_ns = 0;
  std::uint64_t waited_ns = 0;
};

CpuShare cpu_share() {
  CpuShare share;
  std::ifstream("/proc/thread-self/schedstat") >> share.ran_ns >> share.waited_ns;
  return share;
}

// Of the time that we wanted a core since `before`, the part without one.
double part_without_core(const CpuShare& before) {
  const CpuShare after = cpu_share();
  const auto ran_ns = static_cast<double>(after.ran_ns - before.ran_ns);
  const auto waited_ns = static_cast<double>(after.waited_ns - before.waited_ns);
  return waited_ns > 0 ? waited_ns / (ran_ns + waited_ns) : 0;
}

nlohmann::ordered_json describe_machine() {
  return {{"cpu", cpu_name()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"l2_cache_bytes", sysconf(_SC_LEVEL2_CACHE_SIZE)}};
}

}  // namespace

Program::Program(std::string name, const std::string& about, RunOptions& options)
    : name_(std::move(name)), options_(options), app_(std::make_unique<CLI::App>(about)) {
  app_->name(name_);
  add_fact("load_average", load_average);
}

Program::~Program() = default;

void Program::add_group(std::string name, std::function<Result<Claims>()> measure) {
  groups_.push_back({std::move(name), std::move(measure)});
}

void Program::add_fact(std::string name, std::function<double()> take) {
  facts_.push_back({std::move(name), std::move(take)});
}

void Program::require(std::function<Status()> check) {
  check_ = std::move(check);
}

bool Program::wants(std::string_view group) const {
  return only_.empty() || std::ranges::find(only_, group) != only_.end();
}

void Program::add_common_options() {
  std::vector<std::string> names;
  for (const Group& group : groups_) {
    names.push_back(group.name);
  }
  app_->add_option("--only", only_, "Measure these groups alone")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app_->add_option("--rounds", options_.rounds, "Rounds of every group, instead of its own")
      ->check(CLI::Range(1, 1'000'000));
  app_->add_flag("--quick", options_.quick, "A few seconds in all; the numbers mean little");
  app_->add_flag("--json", json_, "Print JSON");
  app_->footer(
      "A time is never a failure. Exit status: 0 all was measured, 2 wrong usage,\n"
      "3 this machine or path cannot serve.");
}

int Program::run(int argc, char** argv) {
  add_common_options();
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error) == 0 ? exit_kept : exit_usage;
  }
  if (Status status = check_(); !status.ok()) {
    return refuse(status);
  }
  return measure();
}

int Program::refuse(const Status& status) const {
  fmt::print(stderr, "{}: {}\n", name_, status.message());
  return exit_for(status.code());
}

void Program::take_facts(nlohmann::ordered_json& machine, std::string_view when) const {
  for (const Fact& fact : facts_) {
    const double value = fact.take();
    machine[fmt::format("{}_{}", fact.name, when)] = value;
    if (!json_) {
      fmt::print("measured: {} {} {:.4g}\n", fact.name, when, value);
    }
  }
}

int Program::measure() {
  const CpuShare before = cpu_share();
  nlohmann::ordered_json report = {{"program", name_},
                                   {"kind", "measured"},
                                   {"quick", options_.quick},
                                   {"machine", describe_machine()},
                                   {"claims", nlohmann::ordered_json::array()}};
  if (!json_) {
    fmt::print("{}; median (p10..p90) of interleaved rounds\n", cpu_name());
  }
  take_facts(report["machine"], "before");
  for (const Group& group : groups_) {
    if (!wants(group.name)) {
      continue;
    }
    fmt::print(stderr, "{}: measuring {}\n", name_, group.name);
    Result<Claims> claims = group.measure();
    if (!claims.ok()) {
      return refuse(claims.status());
    }
    for (const Claim& claim : *claims) {
      report["claims"].push_back(to_json(claim));
      fmt::print("{}", json_ ? "" : to_text(claim));
    }
    std::fflush(stdout);
  }
  take_facts(report["machine"], "after");
  report["machine"]["part_without_core"] = part_without_core(before);
  if (json_) {
    fmt::print("{}\n", report.dump(2));
  } else {
    fmt::print("measured: {:.0f} % of the time that we wanted a core there was none\n",
               100 * part_without_core(before));
  }
  return exit_kept;
}

}  // namespace remora::bench
