// remora bench: what the operations of stores, with `rpc` calls, and with `nic` the operations of
// the fabric cost here or by a hardware profile.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/size_text.h"
#include "cli/call_bench/command.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/store_bench/command.h"
#include "cli/validators.h"
#include "lab/measured/nic/nic_bench.h"

namespace remora::cli {
namespace {

struct BenchNicArguments {
  lab::NicBenchOptions options;
  std::string size;
  bool json = false;
};

void print_table(const lab::NicBenchOptions& options, const lab::NicBenchReport& report) {
  fmt::print("{:>8} {:>13} {:>9} {:>6} {:>12} {:>12} {:>9} {:>9} {:>9}  {}\n", "wire", "operation",
             "size", "depth", "ops/s", "MB/s", "p50 us", "p99 us", "p99.9 us", "kind");
  const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  fmt::print("{:>8} {:>13} {:>9} {:>6} {:>12.0f} {:>12.1f} {:>9.2f} {:>9.2f} {:>9.2f}  {}\n",
             options.wire, options.operation, format_size(options.size_bytes), options.depth,
             report.ops_per_s, report.bytes_per_s / 1e6, microseconds(report.p50_ns),
             microseconds(report.p99_ns), microseconds(report.p999_ns),
             report.modelled ? "modelled" : "measured");
}

void print_report(const lab::NicBenchOptions& options, const lab::NicBenchReport& report) {
  nlohmann::ordered_json json = {{"wire", options.wire},
                                 {"op", options.operation},
                                 {"size_bytes", options.size_bytes},
                                 {"depth", options.depth},
                                 {"ops", report.operations},
                                 {"ops_per_s", report.ops_per_s},
                                 {"bytes_per_s", report.bytes_per_s},
                                 {"p50_ns", report.p50_ns},
                                 {"p99_ns", report.p99_ns},
                                 {"p999_ns", report.p999_ns},
                                 {"kind", report.modelled ? "modelled" : "measured"}};
  if (report.modelled) {
    json["profile"] = options.profile;
    json["memory_profile"] = options.memory_profile;
    json["seed"] = options.seed;
  }
  print_json(json);
}

int bench_nic(const BenchNicArguments& arguments) {
  lab::NicBenchOptions options = arguments.options;
  if (!lab::is_verbs(options.wire) && !(options.listen.empty() && options.target.empty())) {
    return fail(Status(Code::invalid_argument, "--listen and --target need --wire verbs"));
  }
  if (!options.listen.empty()) {
    const Status status = lab::run_nic_target(options);
    return status.ok() ? exit_kept : fail(status);
  }
  const std::string text = !arguments.size.empty()                   ? arguments.size
                           : lab::works_on_a_word(options.operation) ? "8"
                                                                     : "64";
  Result<std::uint64_t> size_bytes = parse_size(text);
  if (!size_bytes.ok()) {
    return fail(size_bytes.status());
  }
  options.size_bytes = *size_bytes;
  fmt::print(stderr, "bench nic: wire {}, op {}, size {}, depth {}, seed {}\n", options.wire,
             options.operation, options.size_bytes, options.depth, options.seed);
  Result<lab::NicBenchReport> report = lab::run_nic_bench(options);
  if (!report.ok()) {
    return fail(report.status());
  }
  if (options.wire == "mapped") {
    fmt::print(stderr, "bench nic: {} requests short-cut, {} by the rings\n",
               report->requests_short_cut, report->requests_by_wire);
  }
  for (const std::string& remark : report->remarks) {
    fmt::print(stderr, "bench nic: {}\n", remark);
  }
  arguments.json ? print_report(options, *report) : print_table(options, *report);
  return exit_kept;
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_status) {
  CLI::App* bench =
      app.add_subcommand("bench", "Measure a store, or model one by hardware profiles");
  bench->require_subcommand(0, 1);
  add_store_bench(*bench, exit_status);
  add_call_bench(*bench, exit_status);
  CLI::App* command = bench->add_subcommand("nic", "Operations of the fabric between two devices");
  const auto arguments = std::make_shared<BenchNicArguments>();
  lab::NicBenchOptions& options = arguments->options;
  command
      ->add_option(
          "--wire", options.wire,
          "ring, mapped, roce or verbs[:DEVICE] (two processes, measured) or sim (modelled)")
      ->capture_default_str();
  command->add_option("--listen", options.listen,
                      "verbs: be the target for one initiator that comes to this ADDRESS:PORT");
  command->add_option("--target", options.target,
                      "verbs: the ADDRESS:PORT where another machine listens");
  command->add_option("--op", options.operation, lab::list_of_operations())->capture_default_str();
  command->add_option("--size", arguments->size,
                      "Bytes of each operation, such as 64, 4K, 1M (default 64; 8 for atomics)");
  command->add_option("--depth", options.depth, "Operations in flight")
      ->capture_default_str()
      ->check(whole_number(1));
  command
      ->add_option("--ops", options.operations, "Number of operations; 0: about one second of them")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_option("--seed", options.seed, "Seed of the simulated world")
      ->capture_default_str()
      ->check(whole_number(0));
  command->add_option("--profile", options.profile, "NIC of the simulated world, or a path")
      ->capture_default_str();
  command
      ->add_option("--memory-profile", options.memory_profile,
                   "Memory of the simulated world, or a path")
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit_status] { exit_status = bench_nic(*arguments); });
}

}  // namespace remora::cli
