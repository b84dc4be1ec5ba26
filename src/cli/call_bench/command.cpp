#include "cli/call_bench/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/size_text.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/store_bench/lists.h"
#include "cli/validators.h"
#include "lab/rpc/call_bench.h"
#include "rpc/designs/design.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

using lab::CallBench;
using lab::CallReport;

// As people type it. Those with an 's' may be comma lists; every combination is one run.
struct CallBenchArguments {
  std::string designs = "all";
  std::string sizes = "64";
  std::string clients = "1";
  std::string work = "none";
  std::string workload = "read:50,update:50";
  CallBench bench;
  bool json = false;
};

Result<std::vector<std::string>> designs_of(const CallBenchArguments& arguments,
                                            std::uint64_t size_bytes) {
  std::vector<std::string> names;
  if (arguments.designs != "all") {
    for (const std::string& name : split_list(arguments.designs)) {
      REMORA_TRY_RESULT(design, rpc::find_design(name));
      names.emplace_back((*design)->descriptor.name);
    }
    return names;
  }
  // Of all designs, those that can carry objects of this size anywhere.
  for (const rpc::Design* design : rpc::designs()) {
    const bool by_datagram =
        std::ranges::find(design->transports, fabric::Transport::ud) != design->transports.end();
    if (!by_datagram || size_bytes < fabric::datagram_bytes_max - 64) {
      names.emplace_back(design->descriptor.name);
    }
  }
  return names;
}

Result<std::vector<CallBench>> plan_calls(const CallBenchArguments& arguments) {
  CallBench common = arguments.bench;
  REMORA_TRY_RESULT(work, lab::parse_call_work(arguments.work));
  common.work = *work;
  REMORA_TRY_RESULT(mix, workload::parse_workload(arguments.workload));
  common.plan.workload = std::move(mix).value();
  common.plan.keys = workload::KeyTexts({8, 8});
  std::vector<CallBench> runs;
  for (const std::string& size : split_list(arguments.sizes)) {
    REMORA_TRY_RESULT(size_bytes, parse_size(size));
    if (*size_bytes == 0 || *size_bytes > (std::uint64_t{1} << 20) - 4096) {
      return Status(Code::invalid_argument,
                    fmt::format("'{}' is no size of an object; choose 1 byte to 1020K", size));
    }
    REMORA_TRY_RESULT(names, designs_of(arguments, *size_bytes));
    for (const std::string& clients : split_list(arguments.clients)) {
      REMORA_TRY_RESULT(count, parse_size(clients));
      if (*count == 0 || *count > 256) {
        return Status(Code::invalid_argument,
                      fmt::format("'{}' is no number of clients; choose 1 to 256", clients));
      }
      for (const std::string& name : *names) {
        CallBench& run = runs.emplace_back(common);
        run.design = name;
        run.plan.values = workload::ValueSizes(static_cast<std::uint32_t>(*size_bytes));
        run.plan.clients = static_cast<std::uint32_t>(*count);
        REMORA_TRY(workload::validate(run.plan));
      }
    }
  }
  return runs;
}

nlohmann::ordered_json summary_as_json(const workload::Summary& summary) {
  return {{"count", summary.count},    {"failures", summary.failures}, {"mean_ns", summary.mean_ns},
          {"min_ns", summary.min_ns},  {"p50_ns", summary.p50_ns},     {"p99_ns", summary.p99_ns},
          {"p999_ns", summary.p999_ns}};
}

nlohmann::ordered_json to_json(const CallBench& run, const CallReport& report) {
  nlohmann::ordered_json json = {{"design", run.design},
                                 {"durable", (*rpc::find_design(run.design))->is_durable},
                                 {"fabric", run.fabric},
                                 {"workload", run.plan.workload.name},
                                 {"size_bytes", run.plan.values.largest_bytes()},
                                 {"work", lab::to_string(run.work)},
                                 {"window", run.window},
                                 {"clients", run.plan.clients},
                                 {"records", run.plan.records},
                                 {"warm_up", run.plan.warm_up},
                                 {"ops", run.plan.operations},
                                 {"seed", run.plan.seed},
                                 {"ops_per_s", report.ops_per_s},
                                 {"span_ns", report.span_ns},
                                 {"all", summary_as_json(report.all)},
                                 {"kinds", nlohmann::ordered_json::object()},
                                 {"first_failure", nullptr},
                                 {"kind", report.modelled ? "modelled" : "measured"}};
  for (const workload::Kind kind : workload::all_kinds) {
    if (const workload::Summary& summary = report.of(kind); summary.count + summary.failures != 0) {
      json["kinds"][std::string(workload::to_string(kind))] = summary_as_json(summary);
    }
  }
  if (!report.first_failure.ok()) {
    json["first_failure"] = report.first_failure.message();
  }
  if (report.modelled) {
    json["profile"] = run.profile.nic;
    json["memory_profile"] = run.profile.memory;
    json["cpu_profile"] = run.profile.cpu;
    json["steady"] = report.model.steady;
    json["server_core_load"] = report.model.server_core_load;
    json["trace_hash"] = fmt::format("{:016x}", report.model.trace_hash);
  } else {
    json["sent_again"] = report.sent_again;
    json["requests_by_wire"] = report.requests_by_wire;
    json["requests_short_cut"] = report.requests_short_cut;
  }
  return json;
}

void print_row(const CallBench& run, const CallReport& report, bool first) {
  if (first) {
    fmt::print("{:<14} {:>7} {:>8} {:>11} {:>7} {:>7} {:>11} {:>9} {:>9} {:>9}  {}\n", "design",
               "fabric", "size", "work", "window", "clients", "calls/s", "mean us", "p50 us",
               "p99 us", "kind");
  }
  const auto microseconds = [](auto ns) { return static_cast<double>(ns) / 1e3; };
  fmt::print("{:<14} {:>7} {:>8} {:>11} {:>7} {:>7} {:>11.0f} {:>9.2f} {:>9.2f} {:>9.2f}  {}\n",
             run.design, run.fabric, format_size(run.plan.values.largest_bytes()),
             lab::to_string(run.work), run.window, run.plan.clients, report.ops_per_s,
             microseconds(report.all.mean_ns), microseconds(report.all.p50_ns),
             microseconds(report.all.p99_ns), report.modelled ? "modelled" : "measured");
  std::fflush(stdout);
}

Result<CallReport> run_with_progress(CallBench run) {
  std::optional<Progress> shown;
  run.progress = [&](std::uint64_t performed, std::uint64_t planned) {
    if (!shown) {
      shown.emplace("bench rpc " + run.design, "calls", planned);
    }
    shown->show(performed);
  };
  return lab::run_calls(run);
}

int bench_calls(const CallBenchArguments& arguments) {
  const Result<std::vector<CallBench>> runs = plan_calls(arguments);
  if (!runs.ok()) {
    return fail(runs.status());
  }
  fmt::print(stderr, "bench rpc: {} run(s), fabric {}, {} objects, {} calls, seed {}\n",
             runs->size(), arguments.bench.fabric, arguments.bench.plan.records,
             arguments.bench.plan.operations, arguments.bench.plan.seed);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  int exit_status = exit_kept;
  for (const CallBench& run : *runs) {
    const Result<CallReport> report = run_with_progress(run);
    if (!report.ok()) {
      return fail(report.status());
    }
    if (arguments.json) {
      all.push_back(to_json(run, *report));
    } else {
      print_row(run, *report, &run == &runs->front());
    }
    if (!report->first_failure.ok()) {
      fmt::print(stderr, "remora: {} calls failed, the first with: {}\n", report->all.failures,
                 report->first_failure.message());
      exit_status = exit_environment;
    }
  }
  if (arguments.json) {
    print_json(all.size() == 1 ? all.front() : all);
  }
  return exit_status;
}

void add_what_is_run(CLI::App& command, CallBenchArguments& arguments) {
  CallBench& bench = arguments.bench;
  bench.plan.records = 1'000;
  bench.plan.operations = 10'000;
  bench.plan.warm_up = 1'000;
  command
      .add_option("--design", arguments.designs,
                  "Designs, as a comma list, or all: " + rpc::design_names())
      ->capture_default_str();
  command.add_option("--size", arguments.sizes, "Bytes of an object, as a comma list: 64, 1K, 64K")
      ->capture_default_str();
  command
      .add_option("--work", arguments.work,
                  "What a handler does beside: none, wait:100us (others are handled meanwhile), or "
                  "spin:100us")
      ->capture_default_str();
  command
      .add_option("--window", bench.window,
                  "Calls of a client in flight; of a durable design those that have not yet run")
      ->capture_default_str()
      ->check(whole_number(1, rpc::most_window));
  command.add_option("--clients", arguments.clients, "Clients, as a comma list: 1,2,4")
      ->capture_default_str();
  command
      .add_option("--workload", arguments.workload,
                  "A mix such as read:50,update:50, or a to f (YCSB)")
      ->capture_default_str();
  command.add_option("--records", bench.plan.records, "Objects")
      ->capture_default_str()
      ->check(whole_number(1));
  command.add_option("--ops", bench.plan.operations, "Calls that are measured")
      ->capture_default_str()
      ->check(whole_number(1));
  command.add_option("--warm-up", bench.plan.warm_up, "Calls before those")
      ->capture_default_str()
      ->check(whole_number(0));
  command.add_option("--seed", bench.plan.seed, "Seed of the workload, and of the simulated world")
      ->capture_default_str()
      ->check(whole_number(0));
}

void add_where(CLI::App& command, CallBench& bench) {
  command
      .add_option("--fabric", bench.fabric,
                  "ring, mapped or roce (processes on this machine, measured) or sim (modelled)")
      ->capture_default_str();
  command.add_option("--profile", bench.profile.nic, "NIC of the simulated world, or a path")
      ->capture_default_str();
  command
      .add_option("--memory-profile", bench.profile.memory,
                  "Memory of the simulated world, or a path")
      ->capture_default_str();
  command
      .add_option("--cpu-profile", bench.profile.cpu, "Processor of the simulated world, or a path")
      ->capture_default_str();
}

}  // namespace

void add_call_bench(CLI::App& bench, int& exit_status) {
  CLI::App* command = bench.add_subcommand("rpc", "Calls, by each design of RPC");
  const auto arguments = std::make_shared<CallBenchArguments>();
  add_what_is_run(*command, *arguments);
  add_where(*command, arguments->bench);
  command->add_flag("--json", arguments->json,
                    "Print JSON: an object, or an array of several runs'");
  command->callback([arguments, &exit_status] { exit_status = bench_calls(*arguments); });
}

}  // namespace remora::cli
