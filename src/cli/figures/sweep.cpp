// remora figures --sweep: one column of verdicts for each value of a knob.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <utility>

#include "base/exit_status.h"
#include "cli/exit_status.h"
#include "cli/figures/runs.h"
#include "fabric/nic/wire/sim/profile.h"
#include "lab/figures/report.h"

namespace remora::cli {
namespace {

Result<std::uint64_t> number_of(const std::string& name, const std::string& text, std::uint64_t low,
                                std::uint64_t high) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read != end || number < low || number > high) {
    return Status(Code::invalid_argument,
                  fmt::format("{} is '{}', and should be a whole number from {} to {}", name, text,
                              low, high));
  }
  return number;
}

}  // namespace

Status set_knob(const std::string& name, const std::string& value, lab::FigureRunOptions& run) {
  if (name == "cores") {
    REMORA_TRY_RESULT(cores, number_of(name, value, 1, 1024));
    run.request_cores = static_cast<std::uint32_t>(*cores);
  } else if (name == "records") {
    REMORA_TRY_RESULT(records, number_of(name, value, 10, 10'000'000));
    run.records = *records;
  } else if (name == "ops") {
    REMORA_TRY_RESULT(operations, number_of(name, value, 100, 10'000'000));
    run.operations = *operations;
  } else {
    REMORA_TRY_RESULT(number, number_of(name, value, 0, UINT64_MAX));
    fabric::nic::sim::Profile any;
    const Status known = fabric::nic::sim::set_number(any, name, *number);
    if (!known.ok()) {
      return Status(known.code(),
                    fmt::format("{}; besides cores, records and ops", known.message()));
    }
    run.numbers.emplace_back(name, *number);
  }
  return {};
}

Result<Knob> parse_knob(const std::string& text) {
  const std::size_t equals = text.find('=');
  Knob knob;
  if (equals != text.npos) {
    knob.name = text.substr(0, equals);
    knob.values = CLI::detail::split(text.substr(equals + 1), ',');
  }
  if (knob.name.empty() || knob.values.empty() || knob.values.front().empty()) {
    return Status(Code::invalid_argument,
                  "'" + text + "' is no name with values, such as cores=1,2,4,8,16");
  }
  return knob;
}

int run_sweep(const figures::Library& library, const std::vector<const figures::Figure*>& chosen,
              const FiguresArguments& arguments) {
  const Result<Knob> knob = parse_knob(arguments.sweep);
  if (!knob.ok()) {
    return fail(knob.status());
  }
  std::vector<FiguresArguments> columns;
  for (const std::string& value : knob->values) {
    columns.push_back(arguments);
    if (const Status set = set_knob(knob->name, value, columns.back().run); !set.ok()) {
      return fail(set);
    }
  }
  std::vector<std::vector<figures::Judgement>> judgements;
  std::size_t failed = 0;
  for (const FiguresArguments& column : columns) {
    figures::Observations observations;
    fmt::print(stderr, "figures: {} = {}\n", knob->name, knob->values[judgements.size()]);
    const Result<FigureRuns> runs = run_all(chosen, column, observations);
    if (!runs.ok()) {
      return fail(runs.status());
    }
    failed += runs->failed;
    judgements.push_back(figures::judge_all(library, chosen, observations));
  }
  std::string head = "| claim | paper |";
  std::string rule = "|---|---|";
  for (const std::string& value : knob->values) {
    head += fmt::format(" {} = {} |", knob->name, value);
    rule += "---|";
  }
  fmt::print("{}\n{}\n", head, rule);
  for (std::size_t row = 0; row < judgements.front().size(); ++row) {
    const figures::Claim& claim = judgements.front()[row].claim;
    fmt::print("| {} | {} |", claim.id, figures::said(claim));
    for (const std::vector<figures::Judgement>& column : judgements) {
      fmt::print(" {}, {} |", text_of(column[row].modelled),
                 figures::to_string(column[row].finding));
    }
    fmt::print("\n");
  }
  return failed == 0 ? exit_kept : exit_environment;
}

}  // namespace remora::cli
