#include "server/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace remora::server {
namespace {

// How a counter of the engines is called outside. Those that are not named here are gauges under
// their own names.
struct Metric {
  std::string_view counter = {};
  std::string_view name = {};
  std::string_view help = {};
  bool grows = false;  // a counter, which OpenMetrics ends with _total
  double unit = 1;     // of the metric, in the counter's
  std::string_view label = {};
};

constexpr Metric engine_metrics[] = {
    {"keys", "remora_keys", "Keys in the store"},
    {"keys_with_expiry", "remora_keys_with_expiry", "Keys that have a time to live"},
    {"recovered_keys", "remora_recovered_keys", "Keys that were there when the store was opened"},
    {"verified_keys", "remora_verified_keys", "Those of them whose checksums were verified since"},
    {"damaged_keys", "remora_damaged_keys", "Keys whose values fail their checksums"},
    {"index_bytes", "remora_index_bytes", "The index, in memory"},
    {"expired_keys", "remora_expired_keys", "Keys whose time has come", true},
    {"put_requests", "remora_requests", "Requests that the server answered", true, 1, "op=\"put\""},
    {"get_requests", "remora_requests", "", true, 1, "op=\"get\""},
    {"del_requests", "remora_requests", "", true, 1, "op=\"del\""},
    {"durability_lag_ns", "remora_durability_lag_seconds",
     "Age of the oldest version that is not persistent yet", false, 1e-9},
    {"awaited_versions", "remora_awaited_versions", "Versions that are not persistent yet"},
    {"verified_versions", "remora_verified_versions", "Versions found complete and made persistent",
     true},
    {"verified_by_worker", "remora_versions_looked_at_by_worker",
     "Versions whose checksum a thread beside the server's computed", true},
    {"superseded_versions", "remora_superseded_versions",
     "Versions that a newer one made superfluous before they were verified", true},
    {"invalidated_versions", "remora_invalidated_versions", "Versions whose value never came",
     true},
    {"log_bytes_in_use", "remora_log_in_use_bytes", "Space of the log in use"},
    {"log_bytes_total", "remora_log_size_bytes", "Space of the log"},
    {"cleanings", "remora_cleanings", "Cleanings of all of the log that came to their end", true},
    {"cleaned_parts", "remora_cleaned_parts",
     "Cleanings of a part of the log that came to their end", true},
    {"moved_versions", "remora_moved_versions", "Versions that cleaning has moved", true},
    {"scrub_passes", "remora_scrub_passes", "Times that all that lives was verified", true},
    {"scrub_objects", "remora_scrubbed_objects", "Versions that the scrubber has verified", true},
    {"scrub_reached", "remora_scrub_reached_keys", "Keys that this pass has verified"},
    {"scrub_last_keys", "remora_scrub_last_keys", "Keys that the last pass has verified"},
    {"scrub_last_damaged", "remora_scrub_last_damaged_keys", "Of these, damaged"},
    {"scrub_last_end_ms", "remora_scrub_last_end_seconds", "When the last pass ended, since 1970",
     false, 1e-3},
    {"rounds", "remora_rounds", "Changes of layout that all clients followed", true},
};

class MetricsText {
 public:
  void add(const Metric& metric, double value) {
    const std::string_view type = metric.grows ? "counter" : "gauge";
    if (metric.name != last_) {
      text_ += fmt::format("# TYPE {} {}\n", metric.name, type);
      if (!metric.help.empty()) {
        text_ += fmt::format("# HELP {} {}.\n", metric.name, metric.help);
      }
      last_ = metric.name;
    }
    const std::string label = metric.label.empty() ? "" : fmt::format("{{{}}}", metric.label);
    text_ += fmt::format("{}{}{} {}\n", metric.name, metric.grows ? "_total" : "", label,
                         value * metric.unit);
  }
  void add(const Metric& metric, std::uint64_t value) { add(metric, static_cast<double>(value)); }
  // As a summary: percentiles since the beginning.
  void add_latency(std::string_view name, std::string_view help, const Histogram& latency_ns) {
    text_ += fmt::format("# TYPE {} summary\n# HELP {} {}.\n", name, name, help);
    for (const double percent : {50.0, 99.0, 99.9}) {
      text_ += fmt::format("{}{{quantile=\"{:g}\"}} {}\n", name, percent / 100,
                           static_cast<double>(latency_ns.percentile(percent)) * 1e-9);
    }
    const auto count = static_cast<double>(latency_ns.count());
    text_ += fmt::format("{}_count {}\n{}_sum {}\n", name, latency_ns.count(), name,
                         latency_ns.mean() * count * 1e-9);
    last_ = name;
  }
  std::string take() { return std::move(text_) + "# EOF\n"; }

 private:
  std::string text_;
  std::string last_;
};

void add_engine(MetricsText& text, const kv::StoreServer::Counter& counter) {
  const auto known = std::ranges::find(engine_metrics, counter.name, &Metric::counter);
  if (known != std::end(engine_metrics)) {
    text.add(*known, counter.value);
    return;
  }
  const std::string name = "remora_" + std::string(counter.name);
  text.add(Metric{.name = name}, counter.value);
}

void add_redis(MetricsText& text, const resp::Counters& redis) {
  text.add({.name = "remora_redis_clients", .help = "Redis clients now"}, redis.clients);
  text.add({.name = "remora_redis_connections", .help = "That came", .grows = true},
           redis.connections);
  text.add({.name = "remora_redis_commands", .help = "Commands that were run", .grows = true},
           redis.commands);
  text.add({.name = "remora_redis_gets",
            .help = "Keys that were looked for",
            .grows = true,
            .label = "found=\"yes\""},
           redis.hits);
  text.add({.name = "remora_redis_gets", .grows = true, .label = "found=\"no\""}, redis.misses);
  text.add({.name = "remora_redis_errors", .help = "Commands that failed", .grows = true},
           redis.errors);
}

}  // namespace

std::string metrics_text(StoreHost& host, const resp::Server* redis) {
  MetricsText text;
  text.add({.name = "remora_uptime_seconds", .help = "Since the store was opened", .unit = 1e-9},
           host.uptime_ns());
  text.add({.name = "remora_pool_bytes", .help = "Size of the pool"}, host.pool_bytes());
  const bool has_failed = !host.failure().ok();
  text.add({.name = "remora_store_failed",
            .help = "1 when the store has failed for good and nothing becomes persistent any more"},
           std::uint64_t{has_failed ? 1u : 0u});
  text.add({.name = "remora_medium_survives_power_cut",
            .help = "1 when what is persistent survives a power cut"},
           std::uint64_t{host.strategy().survives_power_cut && !has_failed ? 1u : 0u});
  text.add({.name = "remora_medium_survives_process_end",
            .help = "1 when the pool outlives the process that serves it"},
           std::uint64_t{host.survives() == Survives::nothing ? 0u : 1u});
  const StoreHost::ClientsByWire clients = host.clients_by_wire();
  text.add({.name = "remora_clients", .help = "Clients now, by wire", .label = "wire=\"mapped\""},
           std::uint64_t{clients.mapped});
  text.add({.name = "remora_clients", .label = "wire=\"ring\""}, std::uint64_t{clients.ring});
  text.add({.name = "remora_clients", .label = "wire=\"roce\""}, std::uint64_t{clients.roce});
  text.add({.name = "remora_clients", .label = "wire=\"verbs\""}, std::uint64_t{clients.verbs});
  text.add({.name = "remora_links", .help = "Connections that came", .grows = true},
           host.links_total());
  text.add({.name = "remora_refusals", .help = "Clients that were turned away", .grows = true},
           host.refusals_total());
  text.add({.name = "remora_failed_requests",
            .help = "Requests of native clients that were answered with a failure; that there is "
                    "no such key is none",
            .grows = true},
           host.store().failed_requests());
  for (const kv::StoreServer::Counter& counter : host.store().counters()) {
    add_engine(text, counter);
  }
  if (const Histogram* lag_ns = host.store().durability_latency()) {
    text.add_latency(
        "remora_durability_latency_seconds",
        "From the request of a put until its version was known to be persistent; of puts that "
        "share a commit, the oldest",
        *lag_ns);
  }
  const fabric::DeviceCounters nic = host.counters();
  text.add(
      {.name = "remora_nic_packets", .help = "Packets", .grows = true, .label = "way=\"sent\""},
      nic.packets_sent);
  text.add({.name = "remora_nic_packets", .grows = true, .label = "way=\"received\""},
           nic.packets_received);
  text.add({.name = "remora_nic_packets", .grows = true, .label = "way=\"dropped\""},
           nic.packets_dropped);
  text.add({.name = "remora_nic_translations",
            .help = "Looks into the translation cache",
            .grows = true,
            .label = "found=\"yes\""},
           nic.translation_hits);
  text.add({.name = "remora_nic_translations", .grows = true, .label = "found=\"no\""},
           nic.translation_misses);
  text.add({.name = "remora_nic_access_violations",
            .help = "Remote keys, bounds or rights that were refused",
            .grows = true},
           nic.access_violations);
  text.add({.name = "remora_nic_retransmissions", .help = "Packets sent again", .grows = true},
           nic.retransmissions);
  text.add({.name = "remora_nic_naks", .help = "Requests refused or out of order", .grows = true},
           nic.naks_sent);
  if (redis != nullptr) {
    add_redis(text, redis->counters());
    text.add_latency("remora_redis_command_seconds",
                     "From reading a command to writing its reply, or to holding it back until it "
                     "is persistent",
                     redis->latency());
  }
  return text.take();
}

}  // namespace remora::server
