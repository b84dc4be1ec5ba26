// What the server tells of itself.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <iterator>
#include <utility>

#include "resp/families.h"
#include "resp/glob.h"

namespace remora::resp {
namespace {

// --- INFO ---

using Section = void (*)(Call& call, std::string& text);

void server_section(Call& call, std::string& text) {
  Executor& executor = call.executor;
  const std::uint64_t uptime_s = (executor.runtime().wall_ms() - executor.started_ms()) / 1000;
  fmt::format_to(std::back_inserter(text),
                 "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nos:Linux\r\n"
                 "arch_bits:64\r\nserver_name:remora\r\nprocess_id:{}\r\ntcp_port:{}\r\n"
                 "uptime_in_seconds:{}\r\nuptime_in_days:{}\r\n",
                 ::getpid(), executor.settings().port, uptime_s, uptime_s / 86400);
}

void clients_section(Call& call, std::string& text) {
  fmt::format_to(std::back_inserter(text),
                 "# Clients\r\nconnected_clients:{}\r\nmaxclients:{}\r\nblocked_clients:0\r\n",
                 call.executor.counters().clients, call.executor.settings().most_clients);
}

void memory_section(Call&, std::string& text) {
  text += "# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n";
}

void persistence_section(Call& call, std::string& text) {
  const Settings& settings = call.executor.settings();
  fmt::format_to(std::back_inserter(text),
                 "# Persistence\r\nloading:0\r\naof_enabled:{}\r\naof_pending_changes:{}\r\n"
                 "durability:{}\r\n",
                 settings.outlives_process ? 1 : 0,
                 call.store.now() == call.store.persistent_now() ? 0 : 1,
                 !settings.outlives_process ? "none"
                 : settings.persistent      ? "persistent"
                                            : "asynchronous");
}

void stats_section(Call& call, std::string& text) {
  const Counters& counters = call.executor.counters();
  fmt::format_to(std::back_inserter(text),
                 "# Stats\r\ntotal_connections_received:{}\r\ntotal_commands_processed:{}\r\n"
                 "rejected_connections:{}\r\nkeyspace_hits:{}\r\nkeyspace_misses:{}\r\n"
                 "total_error_replies:{}\r\ntotal_net_input_bytes:{}\r\n"
                 "total_net_output_bytes:{}\r\n",
                 counters.connections, counters.commands, counters.rejected, counters.hits,
                 counters.misses, counters.errors, counters.bytes_in, counters.bytes_out);
}

void replication_section(Call&, std::string& text) {
  text += "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n";
}

void cluster_section(Call&, std::string& text) {
  text += "# Cluster\r\ncluster_enabled:0\r\n";
}

void keyspace_section(Call& call, std::string& text) {
  text += "# Keyspace\r\n";
  if (call.store.keys() != 0) {
    fmt::format_to(std::back_inserter(text), "db0:keys={},expires={},avg_ttl=0\r\n",
                   call.store.keys(), call.store.keys_with_expiry());
  }
}

constexpr std::array<std::pair<std::string_view, Section>, 8> sections = {
    {{"server", server_section},
     {"clients", clients_section},
     {"memory", memory_section},
     {"persistence", persistence_section},
     {"stats", stats_section},
     {"replication", replication_section},
     {"cluster", cluster_section},
     {"keyspace", keyspace_section}}};

bool is_asked_for(Args args, std::string_view name) {
  if (args.size() == 1) {
    return true;
  }
  for (const std::string_view word : args.subspan(1)) {
    if (is_word(word, name) || is_word(word, "all") || is_word(word, "default") ||
        is_word(word, "everything")) {
      return true;
    }
  }
  return false;
}

// --- COMMAND ---

constexpr std::array<std::pair<Flag, std::string_view>, 8> flag_names = {{{writes, "write"},
                                                                          {readonly, "readonly"},
                                                                          {grows, "denyoom"},
                                                                          {admin, "admin"},
                                                                          {no_auth, "no_auth"},
                                                                          {loading, "loading"},
                                                                          {stale, "stale"},
                                                                          {fast, "fast"}}};

void reply_command(Call& call, const Command& command) {
  Output& out = call.out;
  std::size_t flags = 0;
  for (const auto& [flag, name] : flag_names) {
    flags += (command.flags & flag) != 0 ? 1 : 0;
  }
  out.array(10);
  out.bulk(command.name);
  out.integer(command.arity);
  out.set(flags, call.protocol());
  for (const auto& [flag, name] : flag_names) {
    if ((command.flags & flag) != 0) {
      out.simple(name);
    }
  }
  out.integer(command.first_key);
  out.integer(command.last_key);
  out.integer(command.step);
  out.set(0, call.protocol());  // categories
  out.array(0);                 // tips
  out.array(0);                 // key specifications
  out.array(0);                 // subcommands
}

// --- CONFIG ---

using Parameter = std::pair<std::string_view, std::string>;

std::vector<Parameter> parameters(Call& call) {
  const Settings& settings = call.executor.settings();
  return {{"save", ""},
          {"appendonly", settings.outlives_process ? "yes" : "no"},
          {"appendfsync", settings.persistent ? "always" : "everysec"},
          {"maxmemory", "0"},
          {"maxmemory-policy", "noeviction"},
          {"maxclients", std::to_string(settings.most_clients)},
          {"databases", "1"},
          {"port", std::to_string(settings.port)},
          {"proto-max-bulk-len", std::to_string(limits::bulk_bytes)},
          {"timeout", "0"}};
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
  }
  return result;
}

Done unknown_subcommand(Call& call, std::string_view parent) {
  return fail(call, fmt::format("ERR unknown subcommand '{}'. Try {} HELP.",
                                call.args[1].substr(0, 128), parent));
}

}  // namespace

Done info(Call& call) {
  std::string text;
  for (const auto& [name, write] : sections) {
    if (is_asked_for(call.args, name)) {
      text += text.empty() ? "" : "\r\n";
      write(call, text);
    }
  }
  call.out.verbatim(text, call.protocol());
  return Done::replied;
}

Done command(Call& call) {
  const bool all = call.args.size() == 1;
  if (!all && is_word(call.args[1], "count")) {
    if (call.args.size() != 2) {
      return wrong_arity(call, "command|count");
    }
    call.out.integer(static_cast<std::int64_t>(commands().size()));
  } else if (!all && is_word(call.args[1], "docs")) {
    call.out.map(0, call.protocol());
  } else if (!all && is_word(call.args[1], "info") && call.args.size() > 2) {
    call.out.array(call.args.size() - 2);
    for (const std::string_view name : call.args.subspan(2)) {
      if (const Command* const found = find_command(name)) {
        reply_command(call, *found);
      } else {
        call.out.raw(call.protocol() == Protocol::three ? "_\r\n" : "*-1\r\n");
      }
    }
  } else if (all || is_word(call.args[1], "info")) {
    call.out.array(commands().size());
    for (const Command& each : commands()) {
      reply_command(call, each);
    }
  } else {
    return unknown_subcommand(call, "COMMAND");
  }
  return Done::replied;
}

Done config(Call& call) {
  if (is_word(call.args[1], "resetstat")) {
    Counters& counters = call.executor.counters();
    const std::uint64_t clients = counters.clients;
    counters = {};
    counters.clients = clients;
    call.out.ok();
    return Done::replied;
  }
  if (!is_word(call.args[1], "get")) {
    return unknown_subcommand(call, "CONFIG");
  }
  if (call.args.size() < 3) {
    return wrong_arity(call, "config|get");
  }
  std::vector<Parameter> found;
  for (Parameter& parameter : parameters(call)) {
    for (const std::string_view pattern : call.args.subspan(2)) {
      if (matches(lower(pattern), parameter.first)) {
        found.push_back(std::move(parameter));
        break;
      }
    }
  }
  call.out.map(found.size(), call.protocol());
  for (const auto& [name, value] : found) {
    call.out.bulk(name);
    call.out.bulk(value);
  }
  return Done::replied;
}

}  // namespace remora::resp
