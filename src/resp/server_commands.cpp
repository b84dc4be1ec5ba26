// What the server tells of itself.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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
                 "aof_last_write_status:{}\r\ndurability:{}\r\nread_only_because:{}\r\n",
                 settings.outlives_process ? 1 : 0,
                 call.store.now() == call.store.persistent_now() ? 0 : 1,
                 call.store.failure().ok() ? "ok" : "err",
                 !settings.outlives_process ? "none"
                 : settings.persistent      ? "persistent"
                                            : "asynchronous",
                 call.store.changeable().message());
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

using FlagName = std::pair<std::uint32_t, std::string_view>;

// In Redis's order.
constexpr std::array<FlagName, 10> flag_names = {{{writes, "write"},
                                                  {readonly, "readonly"},
                                                  {grows, "denyoom"},
                                                  {admin, "admin"},
                                                  {no_script, "noscript"},
                                                  {loading, "loading"},
                                                  {stale, "stale"},
                                                  {fast, "fast"},
                                                  {no_auth, "no_auth"},
                                                  {allow_busy, "allow_busy"}}};
constexpr std::uint32_t slow = 1u << 31;  // not fast
constexpr std::array<FlagName, 9> categories = {{{on_keys, "@keyspace"},
                                                 {readonly, "@read"},
                                                 {writes, "@write"},
                                                 {on_strings, "@string"},
                                                 {admin, "@admin"},
                                                 {fast, "@fast"},
                                                 {slow, "@slow"},
                                                 {dangerous, "@dangerous"},
                                                 {on_connection, "@connection"}}};

constexpr std::array<FlagName, 8> uses = {{{key_read_only, "RO"},
                                           {key_read_write, "RW"},
                                           {key_overwritten, "OW"},
                                           {key_removed, "RM"},
                                           {content_returned, "access"},
                                           {content_updated, "update"},
                                           {content_inserted, "insert"},
                                           {content_deleted, "delete"}}};

void reply_names(Call& call, std::uint32_t flags, std::span<const FlagName> names) {
  const auto is_set = [flags](const FlagName& name) { return (flags & name.first) != 0; };
  call.out.set(static_cast<std::size_t>(std::ranges::count_if(names, is_set)), call.protocol());
  for (const FlagName& name : names) {
    if (is_set(name)) {
      call.out.simple(name.second);
    }
  }
}

// Keys from `first` on: `last` is counted from there, or from the end where it is negative.
void reply_keys(Call& call, std::uint32_t use, int first, int last, int step) {
  Output& out = call.out;
  const auto begin_map = [&](std::string_view name, std::size_t size) {
    out.bulk(name);
    out.map(size, call.protocol());
  };
  const auto text = [&](std::string_view name, std::string_view value) {
    out.bulk(name);
    out.bulk(value);
  };
  const auto number = [&](std::string_view name, int value) {
    out.bulk(name);
    out.integer(value);
  };
  out.map(3, call.protocol());
  out.bulk("flags");
  reply_names(call, use, uses);
  begin_map("begin_search", 2);
  text("type", "index");
  begin_map("spec", 1);
  number("index", first);
  begin_map("find_keys", 2);
  text("type", "range");
  begin_map("spec", 3);
  number("lastkey", last);
  number("keystep", step);
  number("limit", 0);
}

void reply_command(Call& call, const Command& command) {
  Output& out = call.out;
  out.array(10);
  out.bulk(command.name);
  out.integer(command.arity);
  reply_names(call, command.flags, flag_names);
  out.integer(command.first_key);
  out.integer(command.last_key);
  out.integer(command.step);
  reply_names(call, command.flags | ((command.flags & fast) != 0 ? 0 : slow), categories);
  out.set(0, call.protocol());  // tips
  const bool has_two = command.second_use != 0;
  out.set(has_two ? 2 : command.use != 0 ? 1 : 0, call.protocol());
  if (command.use != 0) {
    const int last = has_two ? 0 : command.last_key;
    reply_keys(call, command.use, command.first_key, last > 0 ? last - command.first_key : last,
               command.step);
  }
  if (has_two) {
    reply_keys(call, command.second_use, command.last_key, 0, command.step);
  }
  out.set(0, call.protocol());  // subcommands
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

constexpr std::array<std::string_view, 4> config_help = {
    "GET <pattern> [<pattern> ...]",
    "    Parameters whose names match, and their values.",
    "RESETSTAT",
    "    What INFO counts begins at nothing.",
};

constexpr std::array<std::string_view, 8> command_help = {
    "(no subcommand)",
    "    What is known of all commands.",
    "COUNT",
    "    How many commands there are.",
    "DOCS [<command> ...]",
    "    Nothing: there are no documents of them here.",
    "INFO [<command> ...]",
    "    What is known of these commands, or of all.",
};

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
        call.out.null(call.protocol());
      }
    }
  } else if (all || is_word(call.args[1], "info")) {
    call.out.array(commands().size());
    for (const Command& each : commands()) {
      reply_command(call, each);
    }
  } else {
    return is_word(call.args[1], "help") ? help(call, command_help) : unknown_subcommand(call);
  }
  return Done::replied;
}

Done config(Call& call) {
  if (is_word(call.args[1], "resetstat")) {
    if (call.args.size() != 2) {
      return wrong_arity(call, "config|resetstat");
    }
    call.executor.counters().reset();
    call.out.ok();
    return Done::replied;
  }
  if (!is_word(call.args[1], "get")) {
    return is_word(call.args[1], "help") ? help(call, config_help) : unknown_subcommand(call);
  }
  if (call.args.size() < 3) {
    return wrong_arity(call, "config|get");
  }
  std::vector<Parameter> found;
  for (Parameter& parameter : parameters(call)) {
    for (const std::string_view pattern : call.args.subspan(2)) {
      if (matches(lower(pattern), parameter.first)) {
        // Under the name that was asked for.
        const bool is_name = pattern.find_first_of("[*?") == std::string_view::npos;
        found.emplace_back(is_name ? pattern : parameter.first, std::move(parameter.second));
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
