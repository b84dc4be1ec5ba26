#include "lab/experiments/readings.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace remora::lab {
namespace {

double us(std::uint64_t total_ns, std::uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count) / 1e3;
}

// Where the time of an operation went; only a model knows.
std::optional<double> part_of(const store_bench::ModelledReport& report, const std::string& part) {
  const workload::Summary& all = report.all;
  const HostTally& client = report.client_cpu;
  const HostTally& server = report.server_cpu;
  const double crc = us(client.crc_ns + server.crc_ns, all.count);
  const double persist = us(client.persist_ns + server.persist_ns, all.count);
  const double other =
      us(client.other_ns + client.copy_ns + server.other_ns + server.copy_ns, all.count);
  const std::map<std::string, double> parts = {
      {"crc", crc},
      {"persist", persist},
      {"other", other},
      {"network", std::max(0.0, all.mean_ns / 1e3 - crc - persist - other)}};
  const auto found = parts.find(part);
  return found == parts.end() ? std::nullopt : std::optional(found->second);
}

// Of all operations, or of those of one kind: "update.latency_p50_us".
std::optional<double> whole_of(const store_bench::Report& report, std::string_view metric) {
  const workload::Summary* of = &report.all;
  if (const std::size_t point = metric.find('.'); point != metric.npos) {
    const Result<workload::Kind> kind = workload::parse_kind(metric.substr(0, point));
    if (!kind.ok()) {
      return std::nullopt;
    }
    of = &report.of(*kind);
    metric.remove_prefix(point + 1);
  }
  if (metric == "throughput_ops_per_s") {
    return report.all.count == 0 ? 0
                                 : report.ops_per_s * static_cast<double>(of->count) /
                                       static_cast<double>(report.all.count);
  }
  if (metric == "latency_p50_us") {
    return static_cast<double>(of->p50_ns) / 1e3;
  }
  if (metric == "latency_p99_us") {
    return static_cast<double>(of->p99_ns) / 1e3;
  }
  if (metric == "latency_mean_us") {
    return of->mean_ns / 1e3;
  }
  return std::nullopt;
}

// What a report tells of each slot.
template <typename Read>
Status fill_slots(const figures::FigureRun& run, FigureValues& values, Read read) {
  for (const figures::Slot& slot : run.slots) {
    values.values.push_back(read(slot));
    if (!values.values.back() && slot.point.part.empty()) {
      return Status(Code::invalid_argument,
                    "'" + slot.metric +
                        "' is no metric; there are throughput_ops_per_s, latency_p50_us, "
                        "latency_p99_us and latency_mean_us, and of one kind of operation "
                        "update.latency_p50_us");
    }
  }
  return {};
}

}  // namespace

fabric::nic::sim::ProfileNames names_of(const figures::Profile& profile) {
  fabric::nic::sim::ProfileNames names;
  names.nic = profile.nic;
  names.memory = profile.memory;
  names.cpu = profile.cpu;
  return names;
}

Result<FigureValues> values_of(const figures::FigureRun& run,
                               const store_bench::ModelledReport& report) {
  REMORA_TRY(report.first_failure);
  FigureValues values;
  values.is_burst = !report.steady;
  values.persistent_share = report.persistent_share;
  REMORA_TRY(fill_slots(run, values, [&](const figures::Slot& slot) {
    return slot.point.part.empty() ? whole_of(report, slot.metric)
                                   : part_of(report, slot.point.part);
  }));
  return values;
}

Result<FigureValues> values_of(const figures::FigureRun& run, const store_bench::Report& report) {
  REMORA_TRY(report.first_failure);
  FigureValues values;
  REMORA_TRY(fill_slots(run, values,
                        [&](const figures::Slot& slot) { return whole_of(report, slot.metric); }));
  return values;
}

std::string why_parts_are_not_measured(const figures::FigureRun& run) {
  const bool in_parts = std::ranges::any_of(
      run.slots, [](const figures::Slot& slot) { return !slot.point.part.empty(); });
  return in_parts ? "it shows the parts of a latency, which a clock outside of the store cannot "
                    "tell apart; only the model knows what each of them takes"
                  : "";
}

}  // namespace remora::lab
