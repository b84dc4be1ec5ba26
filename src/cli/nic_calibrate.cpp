#include "cli/nic_calibrate.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>

#include "base/size_text.h"
#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "lab/measured/compare_model.h"
#include "runtime/progress.h"

namespace remora::cli {
namespace {

struct CalibrateArguments {
  std::string wire = "ring";
  std::string placement = "apart";
  std::string out = "data/profile";
  bool compare = false;
  std::uint64_t rounds = 5;
  std::uint64_t operations = 20'000;
  bool json = false;
};

lab::CalibrationOptions options_of(const CalibrateArguments& arguments) {
  return {.wire = link::parse_wire_kind(arguments.wire).value_or(link::WireKind::ring),
          .placement =
              arguments.placement == "together" ? lab::Placement::together : lab::Placement::apart};
}

nlohmann::ordered_json to_json(const fabric::nic::sim::ProfileListing& listing) {
  nlohmann::ordered_json json;
  for (const fabric::nic::sim::ProfileNumber& number : listing.numbers) {
    json[number.key] = {{"value", number.value}, {"source", number.source}};
  }
  return json;
}

nlohmann::ordered_json to_json(const lab::Calibration& calibration) {
  return {{"one_sided_work", calibration.one_sided_work},
          {"nic", to_json(calibration.nic)},
          {"memory", to_json(calibration.memory)},
          {"cpu", to_json(calibration.cpu)}};
}

nlohmann::ordered_json to_json(const lab::Comparison& row) {
  return {{"engine", row.engine},
          {"operation", row.operation},
          {"value_bytes", row.value_bytes},
          {"measured_p50_ns", row.measured_ns},
          {"modelled_p50_ns", row.modelled_ns},
          {"latency_ratio", row.latency_ratio},
          {"measured_ops_per_s", row.measured_per_s},
          {"modelled_ops_per_s", row.modelled_per_s},
          {"rate_ratio", row.rate_ratio},
          {"foretold", row.is_foretold()},
          {"lacking", lab::lacking(row)}};
}

void print_numbers(const lab::Calibration& calibration) {
  for (const auto* listing : {&calibration.nic, &calibration.memory, &calibration.cpu}) {
    for (const fabric::nic::sim::ProfileNumber& number : listing->numbers) {
      if (!number.source.starts_with("not measured")) {
        fmt::print("{:7} {:28} {:>14}  {}\n", listing->kind, number.key, number.value,
                   number.source);
      }
    }
  }
  fmt::print("\n{}\n", calibration.one_sided_work);
}

int run_calibration(const CalibrateArguments& arguments) {
  const Result<lab::Calibration> calibration = lab::calibrate(options_of(arguments));
  if (!calibration.ok()) {
    return fail(calibration.status());
  }
  const auto names = lab::write_profiles(*calibration, arguments.out);
  if (!names.ok()) {
    return fail(names.status());
  }
  if (arguments.json) {
    print_json(to_json(*calibration));
    return exit_kept;
  }
  print_numbers(*calibration);
  fmt::print("remora bench --fabric sim --profile {} --memory-profile {} --cpu-profile {}\n",
             names->nic, names->memory, names->cpu);
  return exit_kept;
}

void print_rows(const lab::Compared& compared) {
  fmt::print("{:10} {:4} {:>7} {:>11} {:>11} {:>6} {:>11} {:>11} {:>6}  {}\n", "engine", "op",
             "size", "measured us", "model us", "ratio", "measured/s", "model/s", "ratio",
             "foretold within 25%");
  for (const lab::Comparison& row : compared.rows) {
    fmt::print("{:10} {:4} {:>7} {:>11.2f} {:>11.2f} {:>6.2f} {:>11.0f} {:>11.0f} {:>6.2f}  {}\n",
               row.engine, row.operation, format_size(row.value_bytes), row.measured_ns / 1e3,
               row.modelled_ns / 1e3, row.latency_ratio, row.measured_per_s, row.modelled_per_s,
               row.rate_ratio, row.is_foretold() ? "yes" : "no: " + lab::lacking(row));
  }
}

int run_comparison(const CalibrateArguments& arguments) {
  lab::ComparisonOptions options;
  options.calibration = options_of(arguments);
  options.rounds = arguments.rounds;
  options.operations = arguments.operations;
  options.folder = arguments.out;
  std::unique_ptr<Progress> shown;
  options.progress = [&](std::uint64_t done, std::uint64_t of) {
    if (!shown) {
      shown = std::make_unique<Progress>("calibrate", "runs", of);
    }
    shown->show(done);
  };
  const Result<lab::Compared> compared = lab::compare_model(options);
  shown.reset();
  if (!compared.ok()) {
    return fail(compared.status());
  }
  if (arguments.json) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const lab::Comparison& row : compared->rows) {
      rows.push_back(to_json(row));
    }
    print_json({{"wire", arguments.wire},
                {"placement", arguments.placement},
                {"rounds", arguments.rounds},
                {"calibration", to_json(compared->calibration)},
                {"rows", rows}});
    return exit_kept;
  }
  print_rows(*compared);
  const auto foretold = std::ranges::count_if(compared->rows, &lab::Comparison::is_foretold);
  fmt::print("\n{} of {} foretold, {} on {}, medians of {} rounds; {}\n", foretold,
             compared->rows.size(), arguments.placement, arguments.wire, arguments.rounds,
             compared->calibration.one_sided_work);
  return exit_kept;
}

}  // namespace

void add_calibrate_command(CLI::App& nic, int& exit_status) {
  CLI::App* command = nic.add_subcommand(
      "calibrate", "Measure verbs, copies, checksums and flushes here, as profiles for the model");
  const auto arguments = std::make_shared<CalibrateArguments>();
  command->add_option("--wire", arguments->wire, "ring or mapped")
      ->capture_default_str()
      ->check(CLI::IsMember({"ring", "mapped"}));
  command
      ->add_option("--placement", arguments->placement,
                   "The two sides on processors of their own (apart), or on one (together)")
      ->capture_default_str()
      ->check(CLI::IsMember({"apart", "together"}));
  command->add_option("--out", arguments->out, "Folder for nic.toml, memory.toml and cpu.toml")
      ->capture_default_str();
  command->add_flag("--compare", arguments->compare,
                    "Also run stores with one client, here and in the model by these profiles");
  command->add_option("--rounds", arguments->rounds, "Rounds of a comparison, whose medians count")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  command->add_option("--ops", arguments->operations, "Operations of each run of a comparison")
      ->capture_default_str()
      ->check(CLI::Range(100, 10'000'000));
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback([arguments, &exit_status] {
    exit_status = arguments->compare ? run_comparison(*arguments) : run_calibration(*arguments);
  });
}

}  // namespace remora::cli
