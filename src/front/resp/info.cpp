// INFO: what Redis tells of itself, where it makes sense here.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "front/resp/families.h"

namespace remora::resp {
namespace {

using Section = void (*)(Call& call, std::string& text);

template <typename... Values>
void line(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
  text += "\r\n";
}

std::string human(std::uint64_t bytes) {
  constexpr std::array<char, 5> units = {'B', 'K', 'M', 'G', 'T'};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) {
    value /= 1024;
  }
  return unit == 0 ? fmt::format("{}B", bytes) : fmt::format("{:.2f}{}", value, units[unit]);
}

void server_section(Call& call, std::string& text) {
  Executor& executor = call.executor;
  const std::uint64_t now_ms = executor.runtime().wall_ms();
  const std::uint64_t uptime_s = (now_ms - executor.started_ms()) / 1000;
  line(text, "redis_version:7.0.15");
  line(text, "redis_mode:standalone");
  line(text, "os:Linux");
  line(text, "arch_bits:64");
  line(text, "multiplexing_api:epoll");
  line(text, "server_name:remora");
  line(text, "process_id:{}", ::getpid());
  line(text, "tcp_port:{}", executor.settings().port);
  line(text, "server_time_usec:{}", now_ms * 1000);
  line(text, "uptime_in_seconds:{}", uptime_s);
  line(text, "uptime_in_days:{}", uptime_s / 86400);
  line(text, "executable:{}", "remora");
  line(text, "config_file:");
}

void clients_section(Call& call, std::string& text) {
  line(text, "connected_clients:{}", call.executor.counters().clients);
  line(text, "maxclients:{}", call.executor.settings().most_clients);
  line(text, "blocked_clients:0");
}

// Used is what keys and values take of the pool, and the most that they can take is `maxmemory`.
// The process has an index, buffers and the like besides; what it maps of the pool is resident too.
void memory_section(Call& call, std::string& text) {
  const kv::LocalStore::Tally tally = call.store.tally();
  const std::uint64_t used = tally.live_bytes;
  const std::uint64_t most = most_memory(call);
  const struct mallinfo2 heap = ::mallinfo2();
  std::uint64_t resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    unsigned long all = 0;
    unsigned long pages = 0;
    if (std::fscanf(file, "%lu %lu", &all, &pages) == 2) {
      resident = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
    (void)std::fclose(file);
  }
  const std::uint64_t peak = call.executor.note_used(used);
  const std::uint64_t system = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  line(text, "used_memory:{}", used);
  line(text, "used_memory_human:{}", human(used));
  line(text, "used_memory_rss:{}", resident);
  line(text, "used_memory_rss_human:{}", human(resident));
  line(text, "used_memory_peak:{}", peak);
  line(text, "used_memory_peak_human:{}", human(peak));
  line(text, "used_memory_peak_perc:{:.2f}%",
       peak == 0 ? 0 : static_cast<double>(used) * 100 / static_cast<double>(peak));
  line(text, "used_memory_dataset:{}", used);
  line(text, "pool_size:{}", call.executor.settings().pool_bytes);
  line(text, "index_memory:{}", tally.index_bytes);
  line(text, "heap_memory:{}", heap.uordblks + heap.hblkhd);
  line(text, "mem_clients_normal:{}", call.executor.kept_bytes ? call.executor.kept_bytes() : 0);
  line(text, "total_system_memory:{}", system);
  line(text, "total_system_memory_human:{}", human(system));
  line(text, "maxmemory:{}", most);
  line(text, "maxmemory_human:{}", human(most));
  line(text, "maxmemory_policy:noeviction");
  line(text, "mem_allocator:libc");
}

void persistence_section(Call& call, std::string& text) {
  const Settings& settings = call.executor.settings();
  line(text, "loading:0");
  line(text, "rdb_bgsave_in_progress:0");
  line(text, "rdb_last_bgsave_status:ok");
  line(text, "aof_enabled:{}", settings.outlives_process ? 1 : 0);
  line(text, "aof_rewrite_in_progress:0");
  line(text, "aof_pending_changes:{}", call.store.now() == call.store.persistent_now() ? 0 : 1);
  line(text, "aof_last_bgrewrite_status:ok");
  line(text, "aof_last_write_status:{}", call.store.failure().ok() ? "ok" : "err");
  line(text, "durability:{}",
       !settings.outlives_process ? "none"
       : settings.persistent      ? "persistent"
                                  : "asynchronous");
  line(text, "read_only_because:{}", call.store.changeable().message());
}

void stats_section(Call& call, std::string& text) {
  const Counters& counters = call.executor.counters();
  const Rates::Counts rates =
      call.executor.rates().now(call.executor.runtime().now_ns(), call.executor.counts());
  line(text, "total_connections_received:{}", counters.connections);
  line(text, "total_commands_processed:{}", counters.commands);
  line(text, "instantaneous_ops_per_sec:{}", rates.commands);
  line(text, "total_net_input_bytes:{}", counters.bytes_in);
  line(text, "total_net_output_bytes:{}", counters.bytes_out);
  line(text, "instantaneous_input_kbps:{:.2f}", static_cast<double>(rates.bytes_in) / 1024);
  line(text, "instantaneous_output_kbps:{:.2f}", static_cast<double>(rates.bytes_out) / 1024);
  line(text, "rejected_connections:{}", counters.rejected);
  line(text, "expired_keys:{}", call.store.tally().expired_keys);
  line(text, "evicted_keys:0");
  line(text, "keyspace_hits:{}", counters.hits);
  line(text, "keyspace_misses:{}", counters.misses);
  line(text, "pubsub_channels:0");
  line(text, "pubsub_patterns:0");
  line(text, "total_error_replies:{}", counters.errors);
}

void replication_section(Call&, std::string& text) {
  line(text, "role:master");
  line(text, "connected_slaves:0");
  line(text, "master_repl_offset:0");
}

void cpu_section(Call&, std::string& text) {
  rusage usage = {};
  (void)::getrusage(RUSAGE_SELF, &usage);
  line(text, "used_cpu_sys:{}.{:06}", usage.ru_stime.tv_sec, usage.ru_stime.tv_usec);
  line(text, "used_cpu_user:{}.{:06}", usage.ru_utime.tv_sec, usage.ru_utime.tv_usec);
}

void modules_section(Call&, std::string&) {}

// What was timed stands for all: usec is calls times the mean of those.
void command_stats_section(Call& call, std::string& text) {
  for (std::size_t i = 0; i < commands().size(); ++i) {
    const CommandCounts& counts = call.executor.stats().of(i);
    if (counts.calls == 0 && counts.refused == 0) {
      continue;
    }
    const double mean_us = counts.timed == 0 ? 0
                                             : static_cast<double>(counts.timed_ns) / 1000 /
                                                   static_cast<double>(counts.timed);
    line(text,
         "cmdstat_{}:calls={},usec={:.0f},usec_per_call={:.2f},rejected_calls={},failed_calls={}",
         commands()[i].name, counts.calls, mean_us * static_cast<double>(counts.calls), mean_us,
         counts.refused, counts.failed);
  }
}

void error_stats_section(Call& call, std::string& text) {
  for (const auto& [word, count] : call.executor.stats().errors()) {
    line(text, "errorstat_{}:count={}", word, count);
  }
}

void latency_stats_section(Call& call, std::string& text) {
  for (std::size_t i = 0; i < commands().size(); ++i) {
    if (const Histogram* const times = call.executor.stats().times(i)) {
      const auto us = [&](double p) { return static_cast<double>(times->percentile(p)) / 1000; };
      line(text, "latency_percentiles_usec_{}:p50={:.3f},p99={:.3f},p99.9={:.3f}",
           commands()[i].name, us(50), us(99), us(99.9));
    }
  }
}

void cluster_section(Call&, std::string& text) {
  line(text, "cluster_enabled:0");
}

void keyspace_section(Call& call, std::string& text) {
  if (call.store.keys() != 0) {
    line(text, "db0:keys={},expires={},avg_ttl=0", call.store.keys(),
         call.store.keys_with_expiry());
  }
}

struct Named {
  std::string_view name;
  std::string_view title;
  Section write = nullptr;
  bool is_usual = true;  // without a word that asks for it
};

// In Redis's order.
constexpr std::array<Named, 13> sections = {
    {{"server", "Server", server_section},
     {"clients", "Clients", clients_section},
     {"memory", "Memory", memory_section},
     {"persistence", "Persistence", persistence_section},
     {"stats", "Stats", stats_section},
     {"replication", "Replication", replication_section},
     {"cpu", "CPU", cpu_section},
     {"modules", "Modules", modules_section},
     {"commandstats", "Commandstats", command_stats_section, false},
     {"errorstats", "Errorstats", error_stats_section},
     {"latencystats", "Latencystats", latency_stats_section, false},
     {"cluster", "Cluster", cluster_section},
     {"keyspace", "Keyspace", keyspace_section}}};

bool is_asked_for(Args args, const Named& section) {
  if (args.size() == 1) {
    return section.is_usual;
  }
  return std::ranges::any_of(args.subspan(1), [&](std::string_view word) {
    return is_word(word, section.name) || is_word(word, "everything") ||
           (is_word(word, "all") && section.name != "modules") ||
           (is_word(word, "default") && section.is_usual);
  });
}

}  // namespace

std::uint64_t most_memory(Call& call) {
  const std::uint64_t usable = call.store.tally().usable_bytes;
  return usable != 0 ? usable : call.executor.settings().pool_bytes;
}

Done info(Call& call) {
  std::string text;
  for (const Named& section : sections) {
    if (is_asked_for(call.args, section)) {
      text += text.empty() ? "" : "\r\n";
      line(text, "# {}", section.title);
      section.write(call, text);
    }
  }
  call.out.verbatim(text, call.protocol());
  return Done::replied;
}

}  // namespace remora::resp
