#include "lab/run/sizes.h"

#include <algorithm>
#include <bit>

namespace remora::store_bench {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t largest_pool_bytes = 8192 * mebibyte;
constexpr std::uint64_t beside_value_bytes = 256;  // of an object and of its place in the index
constexpr std::uint32_t load_depth = 8;
constexpr std::uint64_t loads_side_by_side_bytes = 64 * 1024;

std::uint64_t writes_of(const workload::Plan& plan) {
  const auto writes = std::ranges::count_if(workload::all_kinds, [&](workload::Kind kind) {
    return plan.workload.weight(kind) > 0 &&
           (workload::writes_value(kind) || kind == workload::Kind::del);
  });
  return plan.records + (writes == 0 ? 0 : plan.operations + plan.warm_up);
}

}  // namespace

std::uint64_t pool_bytes_for(const workload::Plan& plan) {
  const std::uint64_t version_bytes =
      plan.values.largest_bytes() + plan.keys.sizes().high_bytes + beside_value_bytes;
  const std::uint64_t versions = std::min(writes_of(plan), largest_pool_bytes / version_bytes);
  const std::uint64_t bytes = 16 * mebibyte + 2 * versions * version_bytes;
  return std::min((bytes + mebibyte - 1) / mebibyte * mebibyte, largest_pool_bytes);
}

std::uint32_t load_depth_for(const workload::Plan& plan, std::uint32_t depth) {
  return plan.values.largest_bytes() > loads_side_by_side_bytes ? depth
                                                                : std::max(depth, load_depth);
}

kv::ClientOptions client_options_for(const workload::Plan& plan, std::uint32_t depth) {
  const std::uint32_t in_flight = load_depth_for(plan, depth);
  const std::uint64_t object_bytes = std::bit_ceil(
      plan.values.largest_bytes() + plan.keys.sizes().high_bytes + beside_value_bytes);
  return {
      .in_flight = in_flight,
      .buffer_bytes = std::bit_ceil(2 * in_flight * std::max<std::uint64_t>(object_bytes, 4096))};
}

kv::ServerOptions server_options_for(const workload::Plan& plan, kv::ServerOptions options) {
  options.create = true;
  options.most_clients = std::max(options.most_clients, plan.clients);
  const bool inserts = plan.workload.weight(workload::Kind::insert) > 0;
  options.expected_keys = plan.records + (inserts ? plan.operations + plan.warm_up : 0);
  return options;
}

}  // namespace remora::store_bench
