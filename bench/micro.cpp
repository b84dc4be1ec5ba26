// micro: the claims about the foundation, measured beside their bare limits.
#include <cpuid.h>
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/claims.h"
#include "cli/exit_status.h"

namespace remora::bench {
namespace {

struct Group {
  const char* name;
  Result<Claims> (*measure)(const MicroOptions& options);
};

constexpr std::array<Group, 5> groups = {{{"persist", measure_persist},
                                          {"copy", measure_copy},
                                          {"crc", measure_crc},
                                          {"commit", measure_commit},
                                          {"recovery", measure_recovery}}};

struct Arguments {
  MicroOptions options;
  std::vector<std::string> only;
  bool json = false;

  bool wants(std::string_view group) const {
    return only.empty() || std::ranges::find(only, group) != only.end();
  }
};

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
          {"l2_cache_bytes", sysconf(_SC_LEVEL2_CACHE_SIZE)},
          {"load_average_before", load_average()}};
}

int refuse(const Status& status) {
  fmt::print(stderr, "micro: {}\n", status.message());
  return cli::exit_for(status.code());
}

int run(const Arguments& arguments) {
  if (arguments.wants("commit")) {
    if (Status status = check_commit(arguments.options); !status.ok()) {
      return refuse(status);
    }
  }
  const CpuShare before = cpu_share();
  nlohmann::ordered_json report = {{"program", "micro"},
                                   {"kind", "measured"},
                                   {"quick", arguments.options.quick},
                                   {"machine", describe_machine()},
                                   {"claims", nlohmann::ordered_json::array()}};
  if (!arguments.json) {
    fmt::print("{}, load {:.1f}; median (p10..p90) of interleaved rounds\n", cpu_name(),
               load_average());
  }
  for (const Group& group : groups) {
    if (!arguments.wants(group.name)) {
      continue;
    }
    fmt::print(stderr, "micro: measuring {}\n", group.name);
    Result<Claims> claims = group.measure(arguments.options);
    if (!claims.ok()) {
      return refuse(claims.status());
    }
    for (const Claim& claim : *claims) {
      report["claims"].push_back(to_json(claim));
      fmt::print("{}", arguments.json ? "" : to_text(claim));
    }
    std::fflush(stdout);
  }
  report["machine"]["load_average_after"] = load_average();
  report["machine"]["part_without_core"] = part_without_core(before);
  if (arguments.json) {
    fmt::print("{}\n", report.dump(2));
  } else {
    fmt::print("measured: {:.0f} % of the time that we wanted a core there was none\n",
               100 * part_without_core(before));
  }
  return cli::exit_kept;
}

}  // namespace
}  // namespace remora::bench

int main(int argc, char** argv) {
  using namespace remora;
  bench::Arguments arguments;
  std::vector<std::string> names;
  for (const bench::Group& group : bench::groups) {
    names.emplace_back(group.name);
  }
  CLI::App app("The claims about Remora's foundation, each measured beside its bare limit");
  app.name("micro");
  app.add_option("--only", arguments.only, "Measure these groups alone")
      ->delimiter(',')
      ->check(CLI::IsMember(names));
  app.add_option("--rounds", arguments.options.rounds, "Rounds of every group, instead of its own")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--path", arguments.options.path, "A folder on the disk to measure commits on")
      ->capture_default_str();
  app.add_flag("--quick", arguments.options.quick, "A few seconds in all; the numbers mean little");
  app.add_flag("--json", arguments.json, "Print JSON");
  app.footer(
      "A time is never a failure. Exit status: 0 all was measured, 2 wrong usage,\n"
      "3 this machine or path cannot serve.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? cli::exit_kept : cli::exit_usage;
  }
  return bench::run(arguments);
}
