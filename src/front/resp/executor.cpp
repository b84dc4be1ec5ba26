#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/lost_memory.h"
#include "front/resp/absent.h"
#include "front/resp/command.h"

namespace remora::resp {

using kv::LocalStore;

Executor::Executor(Runtime& runtime, LocalStore& store, const Settings& settings,
                   Counters& counters)
    : runtime_(runtime),
      store_(store),
      settings_(settings),
      counters_(counters),
      started_ms_(runtime.wall_ms()),
      monitor_feed_(runtime) {}

namespace {

// A browser that was made to send its requests here; their bodies would be commands. As Redis does.
bool is_of_http(std::string_view name) {
  return is_word(name, "post") || is_word(name, "host:");
}

std::string unknown_command(Args args) {
  if (const std::string_view absent = what_is_absent(args[0]); !absent.empty()) {
    return fmt::format(
        "ERR unknown command '{}': this server has no {}; docs/redis.md tells what it has",
        printed(args[0]), absent);
  }
  std::string shown;
  constexpr std::size_t most = 128;
  for (std::size_t i = 1; i < args.size() && shown.size() < most; ++i) {
    shown += fmt::format("'{}' ", printed(args[i], most - shown.size()));
  }
  return fmt::format("ERR unknown command '{}', with args beginning with: {}", printed(args[0]),
                     shown);
}

std::string arity_text(std::string_view name) {
  return fmt::format("ERR wrong number of arguments for '{}' command", name);
}

bool may_run(Access access, const Command& command) {
  const std::uint32_t refused = access == Access::admin   ? 0u
                                : access == Access::write ? std::uint32_t{needs_admin}
                                                          : writes | admin | needs_admin;
  return access != Access::none && (command.flags & refused) == 0;
}

}  // namespace

bool fits_arity(int arity, std::size_t args) {
  const auto count = static_cast<int>(std::min<std::size_t>(args, 1 << 30));
  return arity >= 0 ? count == arity : count >= -arity;
}

// Mostly the one of the request before.
const Command* Executor::command_of(std::string_view name) {
  if (name == std::string_view(last_name_.data(), last_name_bytes_)) [[likely]] {
    return last_command_;
  }
  const Command* const command = find_command(name);
  if (command != nullptr && name.size() <= last_name_.size()) {
    std::ranges::copy(name, last_name_.begin());
    last_name_bytes_ = name.size();
    last_command_ = command;
  }
  return command;
}

Done Executor::execute(Session& session, Args args, Output& out, bool full) {
  Call call{*this, store_, session, args, out, full};
  const Command* const command = command_of(args[0]);
  session.command = command;
  ++counters_.commands;
  if (command == nullptr) {
    if (is_of_http(args[0])) [[unlikely]] {
      session.closing = true;
      return Done::replied;  // with nothing
    }
    return refuse(call, command, unknown_command(args));
  }
  if (!fits_arity(command->arity, args.size())) {
    return refuse(call, command, arity_text(command->name));
  }
  if (session.access != Access::admin && (command->flags & no_auth) == 0) [[unlikely]] {
    if (session.access == Access::none) {
      return refuse(call, command, "NOAUTH Authentication required.");
    }
    if (!may_run(session.access, *command)) {
      return refuse(call, command,
                    fmt::format("NOPERM this user has no permissions to run the '{}' command",
                                command->name));
    }
  }
  if (session.transaction && (command->flags & at_once) == 0 && session.transaction->is_open())
      [[unlikely]] {
    return queue(call, *command);
  }
  return run(call, *command);
}

// Before it has run. A transaction that lacks a command is not run either.
Done Executor::refuse(Call& call, const Command* command, std::string_view text) {
  Session& session = call.session;
  if (command != nullptr) {
    ++stats_.of(place_of(*command)).refused;
  }
  if (command != nullptr && command->name == "exec") {
    session.transaction.reset();
    return fail(call, exec_abort_text(text));
  }
  if (session.is_queueing()) {
    session.transaction->spoil();
  }
  return fail(call, text);
}

Done Executor::queue(Call& call, const Command& command) {
  Transaction& transaction = *call.session.transaction;
  if (const std::optional<std::string> wrong = family_error(command, call.args)) {
    return refuse(call, &command, *wrong);
  }
  if ((command.flags & alone) != 0) {
    return refuse(
        call, &command,
        fmt::format("ERR Command not allowed inside a transaction: '{}' changes more than "
                    "one write can hold; send it by itself",
                    command.name));
  }
  if (transaction.memory_bytes() + Transaction::bytes_of(call.args) > settings_.most_queued_bytes) {
    return refuse(call, &command,
                  fmt::format("ERR a transaction of this server has at most {} bytes",
                              settings_.most_queued_bytes));
  }
  if (!transaction.is_spoiled()) {
    transaction.add(command, call.args);
  }
  call.out.raw("+QUEUED\r\n");
  return Done::replied;
}

// Roles may have changed since it was queued: AUTH may be one of the commands before it.
void Executor::run_queued(Call& call, const Command& command) {
  if ((command.flags & no_auth) == 0 && !may_run(call.session.access, command)) {
    fail(
        call,
        "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC "
        "call. This command is no longer allowed for the following reason: no permission to "
        "execute the command or subcommand");
    return;
  }
  (void)run(call, command);
}

Done Executor::run(Call& call, const Command& command) {
  Session& session = call.session;
  if (command.flags & on_data) {
    if (const Status failure = store_.failure(); !failure.ok() && is_in_doubt(command, call.args))
        [[unlikely]] {
      return fail(call, failure_text(failure));
    }
  }
  const std::size_t before = call.out.size();
  const std::uint64_t errors = counters_.errors;
  CommandCounts& counts = stats_.of(place_of(command));
  const bool is_timed = stats_.is_timed(++counts.calls) || (command.flags & long_lasting) != 0 ||
                        call.args.size() > limits::timed_arguments;
  const Done done = is_timed ? run_timed(call, command) : command.run(call);
  if (counters_.errors != errors && command.name != "exec") [[unlikely]] {
    ++counts.failed;
  }
  if (any_memory_lost() && (command.flags & on_data) != 0 && store_.lost()) [[unlikely]] {
    call.out.truncate(before);  // it may tell of zeros
    session.progress = 0;
    return fail(call, failure_text(store_.failure()));
  }
  if (done != Done::no_room && done != Done::again) {  // else it goes on where it is
    session.progress = 0;
  }
  return done;
}

// Of a store that has failed: whether the reply would tell of what a power cut may take.
bool Executor::is_in_doubt(const Command& command, Args args) {
  if (command.first_key == 0) {
    return true;  // it is about all keys
  }
  const auto count = static_cast<int>(args.size());
  const int last = command.last_key < 0 ? count + command.last_key : command.last_key;
  for (int i = command.first_key; i <= last && i < count; i += command.step) {
    if (store_.is_in_doubt(stored_key(args[static_cast<std::size_t>(i)]))) {
      return true;
    }
  }
  return false;
}

std::optional<Done> refuse_search(Call& call, std::uint64_t bytes) {
  if (call.is_queued && call.executor.searched() >= limits::exec_search_bytes) {
    return fail(call, "ERR the commands before it in EXEC have searched enough; send it by itself");
  }
  call.executor.add_searched(bytes);
  return std::nullopt;
}

std::string failure_text(const Status& why) {
  return fmt::format("MISCONF the store has failed: {}", why.message());
}

// --- For commands ---

Done fail(Call& call, std::string_view text) {
  ++call.executor.counters().errors;
  call.executor.stats().add_error(text);
  call.out.error(text);
  return Done::replied;
}

Done wrong_arity(Call& call, std::string_view name) {
  return fail(call, arity_text(name));
}

Done syntax_error(Call& call) {
  return fail(call, "ERR syntax error");
}

namespace {

std::string upper(std::string_view lower) {
  std::string result(lower);
  std::ranges::transform(result, result.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 0x20) : letter;
  });
  return result;
}

}  // namespace

std::optional<std::string> family_error(const Command& command, Args args) {
  if (command.family.empty() || args.size() < 2) {
    return std::nullopt;
  }
  const auto found = std::ranges::find_if(
      command.family, [&](const Subcommand& one) { return is_word(args[1], one.name); });
  if (found == command.family.end()) {
    return fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", printed(args[1]),
                       upper(command.name));
  }
  if (!fits_arity(found->arity, args.size())) {
    return arity_text(fmt::format("{}|{}", command.name, found->name));
  }
  return std::nullopt;
}

std::optional<Done> refuse_subcommand(Call& call) {
  const std::optional<std::string> wrong = family_error(*find_command(call.args[0]), call.args);
  return wrong ? std::optional(fail(call, *wrong)) : std::nullopt;
}

Done help(Call& call, std::span<const std::string_view> lines) {
  const std::string_view name = find_command(call.args[0])->name;
  call.out.array(lines.size() + 3);
  call.out.simple(fmt::format("{} <subcommand> [<arg> ...]. Subcommands are:", upper(name)));
  for (const std::string_view line : lines) {
    call.out.simple(line);
  }
  call.out.simple("HELP");
  call.out.simple("    These lines.");
  return Done::replied;
}

std::string_view printed(std::string_view text, std::size_t most) {
  return text.substr(0, std::min(text.find('\0'), most));
}

bool is_word(std::string_view argument, std::string_view lower) {
  return argument.size() == lower.size() &&
         std::equal(argument.begin(), argument.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
         });
}

std::optional<std::int64_t> integer_of(Call& call, std::string_view text) {
  std::int64_t value = 0;
  if (!parse_integer(text, value)) {
    fail(call, "ERR value is not an integer or out of range");
    return std::nullopt;
  }
  return value;
}

std::optional<LocalStore::Found> look_up(Call& call, std::string_view key) {
  return call.store.get(stored_key(key));
}

std::optional<Done> refuse_damaged(Call& call, const std::optional<LocalStore::Found>& found) {
  if (!found || !found->damaged) [[likely]] {
    return std::nullopt;
  }
  return fail(call,
              "DAMAGED the value of this key is damaged: it fails its checksum; set it again, "
              "delete it, or restore it from a backup");
}

std::string refusal_text(const Status& why) {
  switch (why.code()) {
    case Code::no_space:
      return "OOM command not allowed: the store is full; delete keys, or use a larger pool";
    case Code::invalid_argument:
      return "ERR a key has at most 1024 bytes, a value at most 16777216";
    case Code::io_error:
      return failure_text(why);
    case Code::permission_denied:
      return fmt::format("READONLY {}", why.message());
    case Code::damaged:
      return fmt::format("DAMAGED {}", why.message());
    default:
      return fmt::format("ERR the store failed: {}", why.message());
  }
}

namespace {

std::optional<Done> note(Call& call, const Result<LocalStore::Mark>& mark) {
  if (mark.ok()) [[likely]] {
    call.session.mark = *mark;
    return std::nullopt;
  }
  if (mark.code() == Code::no_space && !call.full) {
    return Done::no_room;
  }
  return fail(call, refusal_text(mark.status()));
}

// What EXEC runs touches its keys when all of it has happened.
void touch(Call& call, ConstBytes key) {
  if (Watches& watches = call.executor.watches(); watches.any() && !call.is_queued) [[unlikely]] {
    watches.touch(as_text(key));
  }
}

}  // namespace

std::optional<Done> put(Call& call, std::string_view key, std::span<const ConstBytes> value,
                        LocalStore::Expiry expires) {
  touch(call, stored_key(key));
  return note(call, call.store.put(stored_key(key), value, expires));
}

std::optional<Done> put(Call& call, std::string_view key, std::string_view value,
                        LocalStore::Expiry expires) {
  const ConstBytes piece = bytes_of(value);
  return put(call, key, std::span(&piece, 1), expires);
}

std::optional<Done> erase(Call& call, std::string_view key) {
  touch(call, stored_key(key));
  return note(call, call.store.del(stored_key(key)));
}

std::optional<Done> clear(Call& call) {
  const Result<LocalStore::Mark> mark = call.store.clear();
  if (mark.code() == Code::in_use) {
    return Done::no_room;  // which waits for native clients, too
  }
  return note(call, mark);
}

namespace {

// The last write of every key, in the order of these.
std::vector<LocalStore::Write> last_of_each(std::span<const LocalStore::Write> writes) {
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<LocalStore::Write> last;
  for (const LocalStore::Write& each : writes) {
    const auto [at, is_new] = places.emplace(as_text(each.key), last.size());
    if (is_new) {
      last.push_back(each);
    } else {
      last[at->second] = each;
    }
  }
  return last;
}

}  // namespace

Together write_together(Call& call, std::span<const kv::Condition> conditions,
                        std::span<const LocalStore::Write> writes) {
  Result<LocalStore::Mark> mark = call.store.write_together({conditions, writes});
  if (mark.code() == Code::invalid_argument) [[unlikely]] {
    if (const std::vector<LocalStore::Write> last = last_of_each(writes);
        last.size() != writes.size()) {
      mark = call.store.write_together({conditions, last});
    }
  }
  switch (mark.code()) {
    case Code::conflict:
      return {.conflict = true};
    case Code::in_use:
      return {.failed = Done::again};
    case Code::no_space:
      call.full |= ++call.session.progress > most_waits;
      break;
    case Code::ok:
      for (const LocalStore::Write& each : writes) {
        touch(call, each.key);
      }
      break;
    default:
      break;
  }
  return {.failed = note(call, mark)};
}

void reply_value(Call& call, const std::optional<LocalStore::Found>& found) {
  if (!found) {
    ++call.executor.counters().misses;
    call.out.null(call.protocol());
    return;
  }
  if (refuse_damaged(call, found)) [[unlikely]] {
    return;
  }
  ++call.executor.counters().hits;
  call.out.bulk(as_text(found->value));
}

std::optional<std::int64_t> expiry_of(Call& call, std::string_view text, TimeUnit unit,
                                      TimeBase base) {
  const std::optional<std::int64_t> given = integer_of(call, text);
  if (!given) {
    return std::nullopt;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const auto now = static_cast<std::int64_t>(call.executor.runtime().wall_ms());
  const bool is_seconds = unit == TimeUnit::seconds;
  const std::int64_t scale = is_seconds ? 1000 : 1;
  const std::int64_t begin = base == TimeBase::now ? now : 0;
  if (*given <= 0 || (is_seconds && *given > most / 1000) || *given * scale > most - begin) {
    const Command* const command = find_command(call.args[0]);
    fail(call, fmt::format("ERR invalid expire time in '{}' command", command->name));
    return std::nullopt;
  }
  return *given * scale + begin;
}

}  // namespace remora::resp
