#include "server/readings.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace remora::server {
namespace {

class List {
 public:
  void add(Reading reading, std::uint64_t value, double unit = 1) {
    reading.value = static_cast<double>(value) * unit;
    readings_.push_back(std::move(reading));
  }
  void add(Reading reading) { readings_.push_back(std::move(reading)); }
  std::vector<Reading> take() { return std::move(readings_); }

 private:
  std::vector<Reading> readings_;
};

// As the engine describes it; what it does not describe is a gauge under its own name.
void add_engine(List& list, const Descriptor& engine, const kv::StoreServer::Counter& counter) {
  const auto known = std::ranges::find(engine.counters, counter.name, &CounterText::counter);
  if (known != engine.counters.end()) {
    list.add({.name = std::string(known->metric),
              .label = known->label,
              .help = known->help,
              .grows = known->grows},
             counter.value, known->unit);
    return;
  }
  list.add({.name = "remora_" + std::string(counter.name)}, counter.value);
}

void add_clients(List& list, const StoreHost::ClientsByWire& clients) {
  list.add({.name = "remora_clients", .label = "wire=\"mapped\"", .help = "Clients now, by wire"},
           clients.mapped);
  list.add({.name = "remora_clients", .label = "wire=\"ring\""}, clients.ring);
  list.add({.name = "remora_clients", .label = "wire=\"roce\""}, clients.roce);
  list.add({.name = "remora_clients", .label = "wire=\"verbs\""}, clients.verbs);
}

void add_device(List& list, const fabric::DeviceCounters& nic) {
  list.add(
      {.name = "remora_nic_packets", .label = "way=\"sent\"", .help = "Packets", .grows = true},
      nic.packets_sent);
  list.add({.name = "remora_nic_packets", .label = "way=\"received\"", .grows = true},
           nic.packets_received);
  list.add({.name = "remora_nic_packets", .label = "way=\"dropped\"", .grows = true},
           nic.packets_dropped);
  list.add({.name = "remora_nic_translations",
            .label = "found=\"yes\"",
            .help = "Looks into the translation cache",
            .grows = true},
           nic.translation_hits);
  list.add({.name = "remora_nic_translations", .label = "found=\"no\"", .grows = true},
           nic.translation_misses);
  list.add({.name = "remora_nic_access_violations",
            .help = "Remote keys, bounds or rights that were refused",
            .grows = true},
           nic.access_violations);
  list.add({.name = "remora_nic_retransmissions", .help = "Packets sent again", .grows = true},
           nic.retransmissions);
  list.add({.name = "remora_nic_naks", .help = "Requests refused or out of order", .grows = true},
           nic.naks_sent);
}

void add_redis(List& list, const resp::Counters& redis) {
  list.add({.name = "remora_redis_clients", .help = "Redis clients now"}, redis.clients);
  list.add({.name = "remora_redis_connections", .help = "That came", .grows = true},
           redis.connections);
  list.add({.name = "remora_redis_commands", .help = "Commands that were run", .grows = true},
           redis.all_commands());
  list.add({.name = "remora_redis_gets",
            .label = "found=\"yes\"",
            .help = "Keys that were looked for",
            .grows = true},
           redis.hits);
  list.add({.name = "remora_redis_gets", .label = "found=\"no\"", .grows = true}, redis.misses);
  list.add({.name = "remora_redis_errors", .help = "Commands that failed", .grows = true},
           redis.errors);
  list.add({.name = "remora_redis_bytes",
            .label = "way=\"in\"",
            .help = "Bytes of commands and replies",
            .grows = true},
           redis.bytes_in);
  list.add({.name = "remora_redis_bytes", .label = "way=\"out\"", .grows = true}, redis.bytes_out);
}

void add_state(List& list, StoreHost& host) {
  const bool has_failed = !host.failure().ok();
  list.add({.name = "remora_uptime_seconds", .help = "Since the store was opened"},
           host.uptime_ns(), 1e-9);
  list.add({.name = "remora_pool_bytes", .help = "Size of the pool"}, host.pool_bytes());
  list.add({.name = "remora_store_failed",
            .help = "1 when the store has failed for good and nothing becomes persistent any more"},
           has_failed ? 1u : 0u);
  list.add({.name = "remora_medium_survives_power_cut",
            .help = "1 when what is persistent survives a power cut"},
           host.strategy().survives_power_cut && !has_failed ? 1u : 0u);
  list.add({.name = "remora_medium_survives_process_end",
            .help = "1 when the pool outlives the process that serves it"},
           host.survives() == Survives::nothing ? 0u : 1u);
}

}  // namespace

Facts redis_facts(const resp::Server& redis) {
  const resp::Counters& counters = redis.counters();
  Facts facts;
  const std::pair<const char*, std::uint64_t> numbers[] = {
      {"redis_clients", counters.clients},         {"redis_connections", counters.connections},
      {"redis_commands", counters.all_commands()}, {"redis_hits", counters.hits},
      {"redis_misses", counters.misses},           {"redis_errors", counters.errors},
      {"redis_bytes_in", counters.bytes_in},       {"redis_bytes_out", counters.bytes_out},
      {"redis_slow", redis.stats().slow_count()}};
  for (const auto& [name, value] : numbers) {
    facts.push_back({name, std::to_string(value)});
  }
  return facts;
}

std::vector<Reading> readings(StoreHost& host, const resp::Server* redis) {
  List list;
  add_state(list, host);
  add_clients(list, host.clients_by_wire());
  list.add({.name = "remora_links", .help = "Connections that came", .grows = true},
           host.links_total());
  list.add({.name = "remora_refusals", .help = "Clients that were turned away", .grows = true},
           host.refusals_total());
  list.add({.name = "remora_failed_requests",
            .help = "Requests of native clients that failed; a missing key is no failure",
            .grows = true},
           host.store().failed_requests());
  for (const kv::StoreServer::Counter& counter : host.store().counters()) {
    add_engine(list, host.engine().descriptor(), counter);
  }
  if (const Histogram* lag_ns = host.store().durability_latency()) {
    list.add({.name = "remora_durability_latency_seconds",
              .help = "From the request of a put until its version was known to be persistent; of "
                      "puts that share a commit, the oldest",
              .latency_ns = lag_ns});
  }
  add_device(list, host.counters());
  if (redis != nullptr) {
    add_redis(list, redis->counters());
    list.add({.name = "remora_redis_command_seconds",
              .help = "From reading a command to writing its reply, or to holding it back until it "
                      "is persistent",
              .latency_ns = &redis->latency()});
  }
  return list.take();
}

}  // namespace remora::server
