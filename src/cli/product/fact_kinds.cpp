#include "cli/product/fact_kinds.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kv/store.h"

namespace remora::cli {
namespace {

constexpr bool counter = true;
constexpr bool gauge = false;
constexpr bool usual = true;

struct Kind {
  std::string_view name;
  std::string_view label;
  Group group = Group::other;
  Unit unit = Unit::count;
  bool grows = false;
  bool usual = false;
  std::string_view most = {};  // the fact that says so
};

// In the order of what matters.
constexpr Kind kinds[] = {
    {"failed_requests", "requests that failed", Group::trouble, Unit::count, counter},
    {"redis_errors", "Redis commands that failed", Group::trouble, Unit::count, counter},
    {"refusals_total", "clients turned away", Group::trouble, Unit::count, counter},
    {"damaged_keys", "damaged keys", Group::trouble, Unit::count, gauge},
    {"damaged_headers", "damaged headers", Group::trouble, Unit::count, gauge},
    {"invalidated_versions", "values that never came", Group::trouble, Unit::count, counter},
    {"nic_access_violations", "accesses refused", Group::trouble, Unit::count, counter},
    {"nic_packets_dropped", "packets dropped", Group::trouble, Unit::count, counter},
    {"redis_commands", "Redis commands", Group::traffic, Unit::count, counter, usual},
    {"redis_hits", "  keys found", Group::traffic, Unit::count, counter},
    {"redis_misses", "  keys missed", Group::traffic, Unit::count, counter},
    {"redis_bytes_in", "  bytes in", Group::traffic, Unit::bytes, counter, usual},
    {"redis_bytes_out", "  bytes out", Group::traffic, Unit::bytes, counter, usual},
    {"redis_slow", "  slow commands", Group::traffic, Unit::count, counter},
    {"put_requests", "puts", Group::traffic, Unit::count, counter, usual},
    {"get_requests", "gets that asked", Group::traffic, Unit::count, counter, usual},
    {"del_requests", "dels", Group::traffic, Unit::count, counter, usual},
    {"durability_lag_ns", "oldest that may be lost", Group::durability, Unit::nanoseconds, gauge,
     usual},
    {"awaited_versions", "versions that wait", Group::durability, Unit::count, gauge, usual},
    {"verified_versions", "verified, persistent", Group::durability, Unit::count, counter},
    {"superseded_versions", "superseded before that", Group::durability, Unit::count, counter},
    {"live_bytes", "keys and values", Group::space, Unit::bytes, gauge, usual, "usable_bytes"},
    {"log_bytes_in_use", "log, old versions too", Group::space, Unit::bytes, gauge, usual,
     "log_bytes_total"},
    {"keys", "keys", Group::space, Unit::count, gauge, usual},
    {"keys_with_expiry", "  with a time to live", Group::space, Unit::count, gauge},
    {"expired_keys", "  expired", Group::space, Unit::count, counter},
    {"index_bytes", "index, in memory", Group::space, Unit::bytes, gauge},
    {"redis_clients", "Redis clients", Group::clients, Unit::count, gauge, usual},
    {"clients", "native clients", Group::clients, Unit::count, gauge, usual},
    {"clients_mapped", "  by loads and stores", Group::clients, Unit::count, gauge},
    {"clients_ring", "  by shared memory", Group::clients, Unit::count, gauge},
    {"clients_roce", "  by RoCE", Group::clients, Unit::count, gauge},
    {"clients_verbs", "  by an RDMA device", Group::clients, Unit::count, gauge},
    {"redis_connections", "Redis connections", Group::clients, Unit::count, counter},
    {"links_total", "native connections", Group::clients, Unit::count, counter},
    {"cpu_ms", "processor", Group::process, Unit::processor_ms, counter, usual},
    {"moved_versions", "versions moved", Group::upkeep, Unit::count, counter},
    {"cleaned_parts", "parts of the log cleaned", Group::upkeep, Unit::count, counter},
    {"cleanings", "logs cleaned", Group::upkeep, Unit::count, counter},
    {"scrub_objects", "versions scrubbed", Group::upkeep, Unit::count, counter},
    {"scrub_passes", "passes of the scrubber", Group::upkeep, Unit::count, counter},
    {"scrub_reached", "keys of this pass", Group::upkeep, Unit::count, gauge},
    {"scrub_last_end_ms", "last pass ended", Group::upkeep, Unit::moment_ms, gauge},
    {"scrub_last_keys", "keys of the last pass", Group::upkeep, Unit::count, gauge},
    {"scrub_last_damaged", "  of these damaged", Group::upkeep, Unit::count, gauge},
    {"verified_by_worker", "verified by the worker", Group::upkeep, Unit::count, counter},
    {"index_growths", "index grew", Group::upkeep, Unit::count, counter},
    {"index_shrinks", "index shrank", Group::upkeep, Unit::count, counter},
    {"rounds", "changes of layout", Group::upkeep, Unit::count, counter},
    {"recovered_keys", "keys recovered", Group::upkeep, Unit::count, gauge},
    {"verified_keys", "  of these verified", Group::upkeep, Unit::count, gauge},
    {"nic_packets_sent", "packets sent", Group::device, Unit::count, counter},
    {"nic_packets_received", "packets received", Group::device, Unit::count, counter},
    {"nic_translation_hits", "translations found", Group::device, Unit::count, counter},
    {"nic_translation_misses", "translations missed", Group::device, Unit::count, counter},
};

// Shown elsewhere: as what another can be at most, or at the top.
constexpr std::string_view shown_elsewhere[] = {"usable_bytes", "log_bytes_total", "pool_bytes",
                                                "uptime_s",     "uptime_ms",       "pid"};

Unit unit_by_name(std::string_view name) {
  return name.ends_with("_ns")             ? Unit::nanoseconds
         : name.ends_with("_s")            ? Unit::seconds
         : name.find("bytes") != name.npos ? Unit::bytes
                                           : Unit::count;
}

// As the engine says of what it counts.
bool grows_by_descriptor(const Facts& facts, std::string_view name) {
  const Result<const kv::Engine*> engine = kv::find_engine(find_fact(facts, "engine").value_or(""));
  if (!engine.ok()) {
    return false;
  }
  const auto counters = (*engine)->descriptor().counters;
  const auto found = std::ranges::find(counters, name, &CounterText::counter);
  return found != counters.end() && found->grows;
}

}  // namespace

std::string_view title_of(Group group) {
  switch (group) {
    case Group::trouble:
      return "trouble";
    case Group::traffic:
      return "traffic";
    case Group::durability:
      return "durability";
    case Group::space:
      return "space";
    case Group::clients:
      return "clients";
    case Group::process:
      return "process";
    case Group::upkeep:
      return "upkeep";
    case Group::device:
      return "device";
    case Group::other:
      break;
  }
  return "more";
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stopped == text.data() + text.size() ? std::optional(value)
                                                                      : std::nullopt;
}

std::vector<Number> numbers_in(const Facts& facts) {
  std::vector<Number> numbers;
  const auto value_of = [&](std::string_view name) -> std::optional<std::uint64_t> {
    const std::optional<std::string> text = find_fact(facts, name);
    return text ? number_in(*text) : std::nullopt;
  };
  for (const Kind& kind : kinds) {
    if (const std::optional<std::uint64_t> value = value_of(kind.name)) {
      numbers.push_back({kind.name, kind.label, kind.group, kind.unit, kind.grows, *value,
                         kind.most.empty() ? 0 : value_of(kind.most).value_or(0), kind.usual});
    }
  }
  for (const Fact& fact : facts) {
    const std::optional<std::uint64_t> value = number_in(fact.value);
    const bool is_known =
        std::ranges::find(kinds, fact.name, &Kind::name) != std::end(kinds) ||
        std::ranges::find(shown_elsewhere, fact.name) != std::end(shown_elsewhere);
    if (value && !is_known) {
      numbers.push_back({fact.name, fact.name, Group::other, unit_by_name(fact.name),
                         grows_by_descriptor(facts, fact.name), *value});
    }
  }
  std::ranges::stable_sort(numbers, {}, &Number::group);
  return numbers;
}

}  // namespace remora::cli
