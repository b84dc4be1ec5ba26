// What the server tells of its commands, and of how it is set up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "front/resp/families.h"
#include "front/resp/glob.h"

namespace remora::resp {
namespace {

// --- COMMAND ---

using FlagName = std::pair<std::uint32_t, std::string_view>;

// In Redis's order.
constexpr std::array<FlagName, 11> flag_names = {{{writes, "write"},
                                                  {readonly, "readonly"},
                                                  {grows, "denyoom"},
                                                  {admin, "admin"},
                                                  {no_script, "noscript"},
                                                  {loading, "loading"},
                                                  {stale, "stale"},
                                                  {skip_slowlog, "skip_slowlog"},
                                                  {fast, "fast"},
                                                  {no_auth, "no_auth"},
                                                  {allow_busy, "allow_busy"}}};
constexpr std::uint32_t slow = 1u << 31;  // not fast
constexpr std::array<FlagName, 11> categories = {{{on_keys, "@keyspace"},
                                                  {readonly, "@read"},
                                                  {writes, "@write"},
                                                  {on_strings, "@string"},
                                                  {on_bits, "@bitmap"},
                                                  {admin, "@admin"},
                                                  {fast, "@fast"},
                                                  {slow, "@slow"},
                                                  {dangerous, "@dangerous"},
                                                  {on_connection, "@connection"},
                                                  {on_transaction, "@transaction"}}};

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
  const CommandStats& stats = call.executor.stats();
  return {{"save", ""},
          {"appendonly", settings.outlives_process ? "yes" : "no"},
          {"appendfsync", settings.persistent ? "always" : "everysec"},
          {"maxmemory", std::to_string(most_memory(call))},
          {"maxmemory-policy", "noeviction"},
          {"maxclients", std::to_string(settings.most_clients)},
          {"databases", "1"},
          {"notify-keyspace-events", ""},
          {"port", std::to_string(settings.port)},
          {"proto-max-bulk-len", std::to_string(limits::bulk_bytes)},
          {"timeout", "0"},
          {"latency-monitor-threshold", std::to_string(call.executor.latencies().threshold_ms)},
          {"latency-tracking", "yes"},
          {"latency-tracking-info-percentiles", "50 99 99.9"},
          {"slowlog-log-slower-than", std::to_string(stats.slow_from_us)},
          {"slowlog-max-len", std::to_string(stats.most_slow)}};
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& letter : result) {
    letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
  }
  return result;
}

// What is set while it serves.
struct Adjusted {
  explicit Adjusted(Executor& executor)
      : slow_from_us(executor.stats().slow_from_us),
        most_slow(executor.stats().most_slow),
        latency_from_ms(executor.latencies().threshold_ms) {}
  void apply(Executor& executor) const {
    executor.stats().slow_from_us = slow_from_us;
    executor.stats().most_slow = most_slow;
    executor.latencies().threshold_ms = latency_from_ms;
    executor.choose_timing();
  }

  std::int64_t slow_from_us;
  std::size_t most_slow;
  std::uint64_t latency_from_ms;
};

bool is_adjustable(std::string_view name) {
  return name == "slowlog-log-slower-than" || name == "slowlog-max-len" ||
         name == "latency-monitor-threshold";
}

// False if the parameter is another one, or cannot have that value.
bool set_parameter(Adjusted& adjusted, std::string_view name, std::string_view text) {
  std::int64_t value = 0;
  if (!parse_integer(text, value)) {
    return false;
  }
  if (name == "slowlog-log-slower-than" && value >= -1) {
    adjusted.slow_from_us = value;
    return true;
  }
  if (name == "slowlog-max-len" && value >= 0 &&
      value <= static_cast<std::int64_t>(limits::slow_most_kept)) {
    adjusted.most_slow = static_cast<std::size_t>(value);
    return true;
  }
  if (name == "latency-monitor-threshold" && value >= 0) {
    adjusted.latency_from_ms = static_cast<std::uint64_t>(value);
    return true;
  }
  return false;
}

// Why a parameter cannot have this value now.
std::string_view why_not(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> reasons[] = {
      {"maxmemory", "it follows from the size of the pool: see remora pool grow"},
      {"maxmemory-policy", "this server evicts nothing: a store that is full answers OOM"},
      {"save",
       "this server makes writes persistent by itself: see --resp-durability of remora "
       "serve"},
      {"appendonly", "it follows from --pool of remora serve"},
      {"appendfsync", "it follows from --resp-durability of remora serve"},
      {"databases", "this server has one database"},
      {"notify-keyspace-events", "this server has no channels (publish and subscribe)"}};
  const auto* const found =
      std::ranges::find(reasons, name, &std::pair<std::string_view, std::string_view>::first);
  if (found != std::end(reasons)) {
    return found->second;
  }
  return is_adjustable(name) ? "argument must be a number that makes sense for it"
                             : "this server takes it when it starts: see remora serve --help";
}

// All that is named, or nothing. What is so already can be set to that.
Done config_set(Call& call) {
  const Args pairs = call.args.subspan(2);
  if (pairs.size() % 2 != 0) {
    return syntax_error(call);
  }
  const std::vector<Parameter> known = parameters(call);
  Adjusted adjusted(call.executor);
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const std::string name = lower(pairs[i]);
    const auto found = std::ranges::find(known, name, &Parameter::first);
    if (found == known.end()) {
      return fail(call,
                  fmt::format("ERR Unknown option or number of arguments for CONFIG SET - '{}'",
                              printed(pairs[i])));
    }
    if (!set_parameter(adjusted, name, pairs[i + 1]) && pairs[i + 1] != found->second) {
      return fail(call,
                  fmt::format("ERR CONFIG SET failed (possibly related to argument '{}') - {}",
                              printed(pairs[i]), why_not(name)));
    }
  }
  adjusted.apply(call.executor);
  call.out.ok();
  return Done::replied;
}

constexpr std::array<std::string_view, 8> config_help = {
    "GET <pattern> [<pattern> ...]",
    "    Parameters whose names match, and their values.",
    "RESETSTAT",
    "    What INFO counts begins at nothing.",
    "REWRITE",
    "    An error: settings are in a file of the server's own (remora serve --config).",
    "SET <parameter> <value> [<parameter> <value> ...]",
    "    Sets slowlog-log-slower-than, slowlog-max-len and latency-monitor-threshold; others are "
    "set "
    "when the server starts.",
};

constexpr std::array<std::string_view, 12> command_help = {
    "(no subcommand)",
    "    What is known of all commands.",
    "COUNT",
    "    How many commands there are.",
    "DOCS [<command> ...]",
    "    What these commands do, or all, in a line.",
    "GETKEYS <command> [<argument> ...]",
    "    Which of the arguments are keys.",
    "INFO [<command> ...]",
    "    What is known of these commands, or of all.",
    "LIST [FILTERBY MODULE <name>|ACLCAT <category>|PATTERN <pattern>]",
    "    The names of all commands, or of some.",
};

std::string_view group_of(const Command& command) {
  constexpr std::array<FlagName, 5> groups = {{{on_strings, "string"},
                                               {on_bits, "bitmap"},
                                               {on_keys, "generic"},
                                               {on_transaction, "transactions"},
                                               {on_connection, "connection"}}};
  for (const auto& [flag, name] : groups) {
    if ((command.flags & flag) != 0) {
      return name;
    }
  }
  return "server";
}

void reply_docs(Call& call, const Command& command) {
  Output& out = call.out;
  out.bulk(command.name);
  out.map(2, call.protocol());
  out.bulk("summary");
  out.bulk(summary_of(command.name));
  out.bulk("group");
  out.bulk(group_of(command));
}

Done command_docs(Call& call) {
  std::vector<const Command*> found;
  for (const std::string_view name : call.args.subspan(2)) {
    if (const Command* const each = find_command(name)) {
      found.push_back(each);
    }
  }
  if (call.args.size() == 2) {
    for (const Command& each : commands()) {
      found.push_back(&each);
    }
  }
  call.out.map(found.size(), call.protocol());
  for (const Command* const each : found) {
    reply_docs(call, *each);
  }
  return Done::replied;
}

Done command_getkeys(Call& call) {
  const Args args = call.args.subspan(2);
  const Command* const found = find_command(args[0]);
  if (found == nullptr) {
    return fail(call, "ERR Invalid command specified");
  }
  if (found->first_key == 0) {
    return fail(call, "ERR The command has no key arguments");
  }
  if (!fits_arity(found->arity, args.size())) {
    return fail(call, "ERR Invalid number of arguments specified for command");
  }
  const auto count = static_cast<int>(args.size());
  const int last = found->last_key < 0 ? count + found->last_key : found->last_key;
  std::vector<std::string_view> keys;
  for (int i = found->first_key; i <= last; i += found->step) {
    keys.push_back(args[static_cast<std::size_t>(i)]);
  }
  call.out.array(keys.size());
  for (const std::string_view key : keys) {
    call.out.bulk(key);
  }
  return Done::replied;
}

bool has_category(const Command& command, std::string_view category) {
  const std::uint32_t flags = command.flags | ((command.flags & fast) != 0 ? 0 : slow);
  return std::ranges::any_of(categories, [&](const FlagName& name) {
    return (flags & name.first) != 0 && is_word(category, name.second.substr(1));
  });
}

Done command_list(Call& call) {
  const Args args = call.args;
  const bool by_module = args.size() == 5 && is_word(args[3], "module");
  const bool by_category = args.size() == 5 && is_word(args[3], "aclcat");
  const bool by_pattern = args.size() == 5 && is_word(args[3], "pattern");
  if (args.size() != 2 && (args.size() != 5 || !is_word(args[2], "filterby") ||
                           !(by_module || by_category || by_pattern))) {
    return syntax_error(call);
  }
  std::vector<std::string> names;
  for (const Command& each : commands()) {
    if (by_module || (by_category && !has_category(each, args[4]))) {
      continue;
    }
    names.emplace_back(each.name);
    for (const Subcommand& one : each.family) {
      names.push_back(fmt::format("{}|{}", each.name, one.name));
    }
  }
  if (by_pattern) {
    std::erase_if(names, [&](const std::string& name) { return !matches(lower(args[4]), name); });
  }
  call.out.array(names.size());
  for (const std::string& name : names) {
    call.out.bulk(name);
  }
  return Done::replied;
}

}  // namespace

Done time(Call& call) {
  const std::uint64_t now_ms = call.executor.runtime().wall_ms();
  call.out.array(2);
  call.out.bulk(std::to_string(now_ms / 1000));
  call.out.bulk(std::to_string(now_ms % 1000 * 1000));
  return Done::replied;
}

Done command(Call& call) {
  if (const std::optional<Done> refused = refuse_subcommand(call)) {
    return *refused;
  }
  const bool all = call.args.size() == 1;
  if (!all && is_word(call.args[1], "help")) {
    return help(call, command_help);
  }
  if (!all && is_word(call.args[1], "count")) {
    call.out.integer(static_cast<std::int64_t>(commands().size()));
  } else if (!all && is_word(call.args[1], "docs")) {
    return command_docs(call);
  } else if (!all && is_word(call.args[1], "getkeys")) {
    return command_getkeys(call);
  } else if (!all && is_word(call.args[1], "list")) {
    return command_list(call);
  } else if (call.args.size() > 2) {
    call.out.array(call.args.size() - 2);
    for (const std::string_view name : call.args.subspan(2)) {
      if (const Command* const found = find_command(name)) {
        reply_command(call, *found);
      } else {
        call.out.null(call.protocol());
      }
    }
  } else {
    call.out.array(commands().size());
    for (const Command& each : commands()) {
      reply_command(call, each);
    }
  }
  return Done::replied;
}

Done config(Call& call) {
  if (const std::optional<Done> refused = refuse_subcommand(call)) {
    return *refused;
  }
  if (is_word(call.args[1], "help")) {
    return help(call, config_help);
  }
  if (is_word(call.args[1], "set")) {
    return config_set(call);
  }
  if (is_word(call.args[1], "rewrite")) {
    return fail(call, "ERR The server is running without a config file");
  }
  if (is_word(call.args[1], "resetstat")) {
    call.executor.counters().reset();
    call.executor.stats().reset();
    call.out.ok();
    return Done::replied;
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
