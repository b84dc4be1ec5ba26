#include "lab/measured/compare_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lab/measured/measured.h"
#include "lab/run/modelled.h"

namespace remora::lab {
namespace {

constexpr std::uint64_t records = 1'000;

// What the rounds say of one row.
struct Rounds {
  std::vector<double> measured_ns;
  std::vector<double> modelled_ns;
  std::vector<double> latency_ratio;
  std::vector<double> measured_per_s;
  std::vector<double> modelled_per_s;
  std::vector<double> rate_ratio;
  std::vector<double> processors_ns;
};

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

workload::Plan plan_of(const Comparison& row, const ComparisonOptions& options) {
  workload::Plan plan;
  plan.workload = workload::parse_workload(row.operation == "put" ? "update-only" : "c").value();
  plan.values = workload::ValueSizes(static_cast<std::uint32_t>(row.value_bytes));
  plan.records = records;
  plan.operations = options.operations;
  plan.warm_up = options.operations / 4;
  plan.clients = 1;
  return plan;
}

Status run_once(const Comparison& row, const ComparisonOptions& options,
                const fabric::nic::sim::ProfileNames& profile, Rounds& rounds) {
  const workload::Plan plan = plan_of(row, options);
  REMORA_TRY_RESULT(measured, run_measured({.engine = row.engine,
                                            .plan = plan,
                                            .fabric = options.calibration.wire,
                                            .placement = options.calibration.placement}));
  REMORA_TRY(measured->first_failure);
  // The server has one thread, which does the background work as well.
  REMORA_TRY_RESULT(modelled, store_bench::run_modelled({.engine = row.engine,
                                                         .plan = plan,
                                                         .cores = {.request = 1, .background = 0},
                                                         .steady = {.limit = 0},
                                                         .profile = profile}));
  REMORA_TRY(modelled->first_failure);
  const auto measured_ns = static_cast<double>(measured->all.p50_ns);
  const auto modelled_ns = static_cast<double>(modelled->all.p50_ns);
  rounds.measured_ns.push_back(measured_ns);
  rounds.modelled_ns.push_back(modelled_ns);
  rounds.latency_ratio.push_back(modelled_ns / measured_ns);
  rounds.measured_per_s.push_back(measured->ops_per_s);
  rounds.modelled_per_s.push_back(modelled->ops_per_s);
  rounds.rate_ratio.push_back(modelled->ops_per_s / measured->ops_per_s);
  double charged_ns = 0;
  for (const HostTally& tally : {modelled->server_cpu, modelled->client_cpu}) {
    charged_ns +=
        static_cast<double>(tally.crc_ns + tally.copy_ns + tally.persist_ns + tally.other_ns);
  }
  rounds.processors_ns.push_back(charged_ns / static_cast<double>(plan.operations));
  return {};
}

}  // namespace

bool Comparison::is_foretold() const {
  return std::abs(latency_ratio - 1) <= foretold_within &&
         std::abs(rate_ratio - 1) <= foretold_within;
}

std::string lacking(const Comparison& comparison) {
  if (comparison.is_foretold()) {
    return "";
  }
  const double gap_ns = comparison.measured_ns - comparison.modelled_ns;
  if (std::abs(comparison.latency_ratio - 1) <= foretold_within) {
    return "the middle of the latencies is foretold and the rate is not: some operations take much "
           "longer here than in the model, which nobody interrupts";
  }
  return gap_ns > 0
             ? fmt::format(
                   "{:.0f} ns more than the model's {:.0f}, of which {:.0f} are processors': what "
                   "the store's own code takes beside checksums, copies and write-backs, and its "
                   "server's loop between two looks at the wire",
                   gap_ns, comparison.modelled_ns, comparison.processors_ns)
             : fmt::format(
                   "{:.0f} ns less than the model's {:.0f}, of which {:.0f} are processors': here "
                   "client and server work at the same time where the model lets one wait",
                   -gap_ns, comparison.modelled_ns, comparison.processors_ns);
}

Result<Compared> compare_model(const ComparisonOptions& options) {
  if (options.rounds == 0 || options.operations < 100) {
    return Status(Code::invalid_argument, "compare over a round at least, of 100 operations");
  }
  Compared compared;
  for (const std::string& engine : options.engines) {
    for (const std::uint64_t value_bytes : options.value_bytes) {
      for (const char* operation : {"put", "get"}) {
        compared.rows.push_back(
            {.engine = engine, .operation = operation, .value_bytes = value_bytes});
      }
    }
  }
  std::vector<Rounds> rounds(compared.rows.size());
  const std::uint64_t all = options.rounds * (1 + compared.rows.size());
  std::uint64_t done = 0;
  const auto show = [&] {
    ++done;
    if (options.progress) {
      options.progress(done, all);
    }
  };
  for (std::uint64_t round = 0; round < options.rounds; ++round) {
    REMORA_TRY_RESULT(calibration, calibrate(options.calibration));
    REMORA_TRY_RESULT(profile, write_profiles(*calibration, options.folder));
    compared.calibration = std::move(*calibration);
    show();
    for (std::size_t row = 0; row < compared.rows.size(); ++row) {
      REMORA_TRY(run_once(compared.rows[row], options, *profile, rounds[row]));
      show();
    }
  }
  for (std::size_t row = 0; row < compared.rows.size(); ++row) {
    Comparison& comparison = compared.rows[row];
    comparison.measured_ns = median_of(rounds[row].measured_ns);
    comparison.modelled_ns = median_of(rounds[row].modelled_ns);
    comparison.latency_ratio = median_of(rounds[row].latency_ratio);
    comparison.measured_per_s = median_of(rounds[row].measured_per_s);
    comparison.modelled_per_s = median_of(rounds[row].modelled_per_s);
    comparison.rate_ratio = median_of(rounds[row].rate_ratio);
    comparison.processors_ns = median_of(rounds[row].processors_ns);
  }
  return compared;
}

}  // namespace remora::lab
