// What a store host tells of itself.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "server/store_host.h"

namespace remora::server {
namespace {

std::uint64_t milliseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1000 +
         static_cast<std::uint64_t>(time.tv_usec) / 1000;
}

}  // namespace

Facts StoreHost::facts() {
  const Strategy& medium = strategy();
  const fabric::DeviceCounters nic = counters();
  const ClientsByWire by_wire = clients_by_wire();
  const auto number = [](std::uint64_t value) { return fmt::format("{}", value); };
  const Status failure_now = failure();
  const bool is_sound = failure_now.ok();
  Facts facts = {
      {"version", options_.version},
      {"pid", fmt::format("{}", ::getpid())},
      {"uptime_s", number(uptime_ns() / 1'000'000'000)},
      {"uptime_ms", number(uptime_ns() / 1'000'000)},
      {"engine", std::string(engine_->name())},
      {"health", is_sound ? "ok" : "failed"},
      {"failure", is_sound ? "none" : std::string(failure_now.message())},
      {"acknowledged_put", is_sound ? put_in_short(*engine_, survives())
                                    : "no put is acknowledged any more: the store has failed"},
      {"pool", options_.pool_path.empty() ? "memory" : options_.pool_path},
      {"pool_bytes", number(pool_bytes())},
      {"pool_growing_to", number(growing_to())},
      {"pool_growth_failure", last_growth().ok() ? "none" : std::string(last_growth().message())},
      {"granularity", std::string(to_string(medium.granularity))},
      {"persistence", medium.method},
      {"survives_power_cut", is_sound && survives() == Survives::power_cut ? "yes" : "no"},
      {"survives_process_end", survives() == Survives::nothing ? "no" : "yes"},
      {"reason", medium.reason},
      {"clients", number(clients())},
      {"clients_mapped", number(by_wire.mapped)},
      {"clients_ring", number(by_wire.ring)},
      {"clients_roce", number(by_wire.roce)},
      {"clients_verbs", number(by_wire.verbs)},
      {"links_total", number(links_total_)},
      {"refusals_total", number(refusals_total_)},
      {"failed_requests", number(store_->store().failed_requests())},
  };
  const Status changeable = store_->store().changeable();
  facts.push_back({"read_only", changeable.ok() ? "no" : std::string(changeable.message())});
  std::uint64_t recovered = 0;
  std::uint64_t verified = 0;
  for (const kv::StoreServer::Counter& counter : store_->store().counters()) {
    recovered = counter.name == "recovered_keys" ? counter.value : recovered;
    verified = counter.name == "verified_keys" ? counter.value : verified;
  }
  facts.push_back({"verified", fmt::format("{} of {}", verified, recovered)});
  for (const kv::StoreServer::Counter& counter : store_->store().counters()) {
    facts.push_back({std::string(counter.name), number(counter.value)});
  }
  if (more_facts_) {
    const Facts more = more_facts_();
    facts.insert(facts.end(), more.begin(), more.end());
  }
  rusage usage = {};
  (void)::getrusage(RUSAGE_SELF, &usage);
  facts.push_back({"cpu_ms", number(milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime))});
  const std::pair<const char*, std::uint64_t> device[] = {
      {"nic_packets_sent", nic.packets_sent},
      {"nic_packets_received", nic.packets_received},
      {"nic_packets_dropped", nic.packets_dropped},
      {"nic_access_violations", nic.access_violations},
      {"nic_translation_hits", nic.translation_hits},
      {"nic_translation_misses", nic.translation_misses},
  };
  for (const auto& [name, value] : device) {
    facts.push_back({name, number(value)});
  }
  return facts;
}

}  // namespace remora::server
