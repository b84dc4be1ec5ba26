#include "lab/experiments/machine_parameters.h"

#include <optional>

namespace remora::lab {
namespace {

// What is missing stays as it is.
template <typename T, typename Read>
Status read_into(T& value, const figures::Parameters& parameters, const std::string& name,
                 Read read) {
  if (!parameters.has(name)) {
    return {};
  }
  const auto found = (parameters.*read)(name);
  REMORA_TRY(found.status());
  value = static_cast<T>(*found);
  return {};
}

Status read_cores(const figures::Parameters& parameters, const FigureRunOptions& options,
                  store_bench::ModelledOptions& modelled) {
  const Result<std::int64_t> request = parameters.integer("request_cores");
  if (!request.ok()) {
    return {};
  }
  const Result<std::int64_t> background = parameters.integer("background_cores");
  const Result<std::string> spread = parameters.text("spread");
  const Result<std::int64_t> awaited = parameters.integer("awaited_versions");
  for (const Status& status : {background.status(), spread.status(), awaited.status()}) {
    REMORA_TRY(status);
  }
  const std::optional<Spread> known = parse_spread(*spread);
  if (!known || *request < 1 || *background < 0 || *awaited < 1) {
    return Status(Code::invalid_argument,
                  "a figure's spread is by-client, any or dispatched, over at least one request "
                  "core; and at least one version is awaited");
  }
  modelled.cores.request =
      options.request_cores != 0 ? options.request_cores : static_cast<std::uint32_t>(*request);
  modelled.cores.background = static_cast<std::uint32_t>(*background);
  modelled.cores.spread = *known;
  modelled.server.awaited_versions = static_cast<std::size_t>(*awaited);
  return {};
}

}  // namespace

Status read_machines(const figures::Parameters& parameters, const FigureRunOptions& options,
                     store_bench::ModelledOptions& modelled) {
  using figures::Parameters;
  REMORA_TRY(read_cores(parameters, options, modelled));
  store_bench::CpuUse& server = modelled.cores.use;
  store_bench::CpuUse& client = modelled.client_use;
  double slice_us = static_cast<double>(server.slice_ns) / 1e3;
  REMORA_TRY(read_into(server.sleeps, parameters, "server_sleeps", &Parameters::flag));
  REMORA_TRY(read_into(client.sleeps, parameters, "client_sleeps", &Parameters::flag));
  REMORA_TRY(read_into(server.share, parameters, "server_share", &Parameters::number));
  REMORA_TRY(read_into(client.share, parameters, "client_share", &Parameters::number));
  REMORA_TRY(read_into(slice_us, parameters, "slice_us", &Parameters::number));
  REMORA_TRY(
      read_into(modelled.client_machines, parameters, "client_machines", &Parameters::integer));
  REMORA_TRY(read_into(modelled.servers, parameters, "servers", &Parameters::integer));
  if (!(slice_us >= 0.001 && slice_us <= 1e9)) {
    return Status(Code::invalid_argument, "a slice is a nanosecond or more");
  }
  server.slice_ns = client.slice_ns = static_cast<std::uint64_t>(slice_us * 1e3);
  return {};
}

}  // namespace remora::lab
