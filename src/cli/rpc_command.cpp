// remora rpc: the designs of RPC that there are, as Table 1 of the RDMA Flush paper sorts them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "rpc/designs/design.h"

namespace remora::cli {
namespace {

using rpc::Design;
using rpc::RequestVerb;

constexpr std::array request_verbs = {RequestVerb::write, RequestVerb::send,
                                      RequestVerb::write_imm};
// The columns of the table. A design that considers DDIO is in the last, as in the paper.
enum class Column : std::uint8_t { rc, uc_ud, ddio };
constexpr std::array columns = {Column::rc, Column::uc_ud, Column::ddio};

bool is_in(const Design& design, Column column) {
  const bool is_reliable =
      std::ranges::find(design.transports, fabric::Transport::rc) != design.transports.end();
  const bool is_unreliable = std::ranges::any_of(
      design.transports,
      [](fabric::Transport transport) { return transport != fabric::Transport::rc; });
  switch (column) {
    case Column::rc:
      return is_reliable && !design.considers_ddio;
    case Column::uc_ud:
      return is_unreliable && !design.considers_ddio;
    case Column::ddio:
      return design.considers_ddio;
  }
  return false;
}

std::string cell(RequestVerb verb, Column column) {
  std::vector<std::string> names;
  for (const Design* design : rpc::designs()) {
    if (design->verb == verb && is_in(*design, column)) {
      names.push_back(std::string(design->descriptor.name) + (design->is_durable ? "*" : ""));
    }
  }
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string_view> transports_of(const Design& design) {
  std::vector<std::string_view> names;
  for (const fabric::Transport transport : design.transports) {
    names.push_back(rpc::to_string(transport));
  }
  return names;
}

void print_designs() {
  constexpr auto row = "{:<16}{:<38}{:<20}{}\n";
  fmt::print(row, "request by", "RC", "UC/UD", "DDIO");
  for (const RequestVerb verb : request_verbs) {
    fmt::print(row, rpc::to_string(verb), cell(verb, columns[0]), cell(verb, columns[1]),
               cell(verb, columns[2]));
  }
  if (std::ranges::any_of(rpc::designs(), &Design::is_durable)) {
    fmt::print("* persistent before it has run\n");
  }
  fmt::print("\n{:<14}{:<8}{:<7}{:<78}{}\n", "design", "figure", "", "a call travels by", "paper");
  for (const Design* design : rpc::designs()) {
    fmt::print("{:<14}{:<8}{:<7}{:<78}{}\n", design->descriptor.name, design->figure,
               fmt::format("{}", fmt::join(transports_of(*design), "/")),
               fmt::format("{}; answer: {}", design->request, design->answer),
               design->descriptor.paper);
  }
}

nlohmann::ordered_json designs_as_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Design* design : rpc::designs()) {
    list.push_back({{"name", design->descriptor.name},
                    {"rival", design->descriptor.is_rival},
                    {"durable", design->is_durable},
                    {"verb", rpc::to_string(design->verb)},
                    {"transports", transports_of(*design)},
                    {"ddio", design->considers_ddio},
                    {"request", design->request},
                    {"answer", design->answer},
                    {"figure", design->figure},
                    {"about", design->descriptor.about},
                    {"caveat", design->descriptor.caveat},
                    {"paper", design->descriptor.paper},
                    {"section", design->descriptor.section}});
  }
  return list;
}

}  // namespace

void add_rpc_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("rpc", "Calls: the designs that there are");
  command->require_subcommand(1);
  CLI::App* designs = command->add_subcommand(
      "designs", "Every design of RPC, by the verb and the transport of its requests");
  const auto json = std::make_shared<bool>(false);
  designs->add_flag("--json", *json, "Print JSON, with papers and figures");
  designs->callback([json, &exit_status] {
    *json ? print_json(designs_as_json()) : print_designs();
    exit_status = exit_kept;
  });
}

}  // namespace remora::cli
