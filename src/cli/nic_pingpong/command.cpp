#include "cli/nic_pingpong/command.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/size_text.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/nic_pingpong/pingpong.h"
#include "cli/validators.h"

namespace remora::cli {
namespace {

struct PingpongArguments {
  PingpongOptions options;
  std::string size = "4K";
  bool json = false;
};

void print_pingpong(const PingpongOptions& options, const PingpongReport& report, bool json) {
  const auto span_s = static_cast<double>(std::max<std::uint64_t>(report.span_ns, 1)) / 1e9;
  const double mbit_per_s = static_cast<double>(report.bytes) * 8 / span_s / 1e6;
  const double each_us = span_s * 1e6 / static_cast<double>(report.iterations);
  if (json) {
    print_json({{"own_gid", report.own_gid},
                {"peer_gid", report.peer_gid},
                {"size_bytes", options.size_bytes},
                {"mtu_bytes", options.mtu_bytes},
                {"iterations", report.iterations},
                {"bytes", report.bytes},
                {"seconds", span_s},
                {"mbit_per_s", mbit_per_s},
                {"us_per_iteration", each_us},
                {"retransmissions", report.retransmissions},
                {"kind", "measured"}});
    return;
  }
  fmt::print("{:>16} {:>16} {:>9} {:>6} {:>10} {:>10} {:>12} {:>8}  {}\n", "own", "peer", "size",
             "mtu", "iterations", "Mbit/s", "us/iteration", "again", "kind");
  fmt::print("{:>16} {:>16} {:>9} {:>6} {:>10} {:>10.1f} {:>12.2f} {:>8}  {}\n", report.own_gid,
             report.peer_gid, format_size(options.size_bytes), options.mtu_bytes, report.iterations,
             mbit_per_s, each_us, report.retransmissions, "measured");
}

int pingpong(const PingpongArguments& arguments) {
  PingpongOptions options = arguments.options;
  Result<std::uint64_t> size = parse_size(arguments.size);
  if (!size.ok()) {
    return fail(size.status());
  }
  options.size_bytes = *size;
  Result<PingpongReport> report = run_pingpong(options);
  if (!report.ok()) {
    return fail(report.status());
  }
  print_pingpong(options, *report, arguments.json);
  return exit_kept;
}

}  // namespace

void add_pingpong_command(CLI::App& nic, int& exit_status) {
  CLI::App* command = nic.add_subcommand(
      "pingpong", "SENDs to and fro over RoCE, with another of these or ibv_rc_pingpong");
  const auto arguments = std::make_shared<PingpongArguments>();
  PingpongOptions& options = arguments->options;
  command->add_option("host", options.server,
                      "Where the server is; without it, this is the server");
  command->add_option("--port", options.port, "TCP port of the introduction")
      ->capture_default_str()
      ->check(whole_number(1, 65535));
  command->add_option("--size", arguments->size, "Bytes of a message")->capture_default_str();
  command->add_option("--iters", options.iterations, "Messages to and fro")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--mtu", options.mtu_bytes, "Path MTU: both sides need the same")
      ->capture_default_str();
  command->add_option("--gid-addr", options.gid_addr,
                      "IP address of this side's device, of one of this machine's interfaces "
                      "(default 127.0.0.1)");
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit_status] { exit_status = pingpong(*arguments); });
}

}  // namespace remora::cli
