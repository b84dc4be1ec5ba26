#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lost_memory.h"
#include "resp/command.h"

namespace remora::resp {

using kv::LocalStore;

Executor::Executor(Runtime& runtime, LocalStore& store, const Settings& settings,
                   Counters& counters)
    : runtime_(runtime),
      store_(store),
      settings_(settings),
      counters_(counters),
      started_ms_(runtime.wall_ms()) {}

namespace {

// A browser that was made to send its requests here; their bodies would be commands. As Redis does.
bool is_of_http(std::string_view name) {
  return is_word(name, "post") || is_word(name, "host:");
}

Done unknown_command(Call& call) {
  std::string shown;
  constexpr std::size_t most = 128;
  for (std::size_t i = 1; i < call.args.size() && shown.size() < most; ++i) {
    shown += fmt::format("'{}' ", printed(call.args[i], most - shown.size()));
  }
  return fail(call, fmt::format("ERR unknown command '{}', with args beginning with: {}",
                                printed(call.args[0]), shown));
}

// There are no transactions. Commands that a client means for one must not take effect without it:
// from MULTI on all are refused, up to EXEC or DISCARD, as Redis refuses a transaction of which a
// command was wrong.
bool is_of_transaction(std::string_view name) {
  return is_word(name, "multi") || is_word(name, "exec") || is_word(name, "discard");
}

Done of_transaction(Call& call) {
  Session& session = call.session;
  if (session.access == Access::none) {
    return fail(call, "NOAUTH Authentication required.");
  }
  const bool begins = is_word(call.args[0], "multi");
  const bool runs = is_word(call.args[0], "exec");
  if (call.args.size() != 1) {
    return wrong_arity(call, begins ? "multi" : runs ? "exec" : "discard");
  }
  if (begins) {
    session.refusing = true;
    return fail(call,
                "ERR this server has no transactions: nothing is run from here up to EXEC or "
                "DISCARD");
  }
  if (!std::exchange(session.refusing, false)) {
    return fail(call, runs ? "ERR EXEC without MULTI" : "ERR DISCARD without MULTI");
  }
  if (runs) {
    return fail(call, "EXECABORT Transaction discarded because of previous errors.");
  }
  call.out.ok();
  return Done::replied;
}

Done not_run(Call& call) {
  return fail(call,
              "ERR not run: MULTI has begun a transaction, which this server does not have; "
              "DISCARD ends it");
}

}  // namespace

bool fits_arity(const Command& command, std::size_t args) {
  const auto count = static_cast<int>(std::min<std::size_t>(args, 1 << 30));
  return command.arity >= 0 ? count == command.arity : count >= -command.arity;
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
  ++counters_.commands;
  if (command == nullptr) {
    if (is_of_http(args[0])) [[unlikely]] {
      session.closing = true;
      return Done::replied;  // with nothing
    }
    if (is_of_transaction(args[0])) {
      return of_transaction(call);
    }
    return session.refusing ? not_run(call) : unknown_command(call);
  }
  if (session.refusing && command->name != "quit") [[unlikely]] {
    return not_run(call);
  }
  if (!fits_arity(*command, args.size())) {
    return wrong_arity(call, command->name);
  }
  if (session.access != Access::write && (command->flags & no_auth) == 0) [[unlikely]] {
    if (session.access == Access::none) {
      return fail(call, "NOAUTH Authentication required.");
    }
    if ((command->flags & (writes | admin)) != 0) {
      return fail(call, fmt::format("NOPERM this user has no permissions to run the '{}' command",
                                    command->name));
    }
  }
  if (command->flags & (on_keys | on_strings)) {
    if (const Status failure = store_.failure(); !failure.ok() && is_in_doubt(*command, args))
        [[unlikely]] {
      return fail(call, failure_text(failure));
    }
  }
  const std::size_t before = out.size();
  const Done done = command->run(call);
  if (any_memory_lost() && (command->flags & (on_keys | on_strings)) != 0 && store_.lost())
      [[unlikely]] {
    out.truncate(before);  // it may tell of zeros
    session.progress = 0;
    session.move = {};
    session.moved.clear();
    return fail(call, failure_text(store_.failure()));
  }
  if (done != Done::no_room && done != Done::uncommitted) {  // else it goes on where it is
    session.progress = 0;
    session.move = {};
    session.moved.clear();
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

std::string failure_text(const Status& why) {
  return fmt::format("MISCONF the store has failed: {}", why.message());
}

// --- For commands ---

Done fail(Call& call, std::string_view text) {
  ++call.executor.counters().errors;
  call.out.error(text);
  return Done::replied;
}

Done wrong_arity(Call& call, std::string_view name) {
  return fail(call, fmt::format("ERR wrong number of arguments for '{}' command", name));
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

Done unknown_subcommand(Call& call) {
  return fail(call, fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", printed(call.args[1]),
                                upper(find_command(call.args[0])->name)));
}

Done help(Call& call, std::span<const std::string_view> lines) {
  const std::string_view name = find_command(call.args[0])->name;
  if (call.args.size() != 2) {
    return wrong_arity(call, fmt::format("{}|help", name));
  }
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
  return fail(
      call,
      "DAMAGED the value of this key is damaged: it fails its checksum; set it anew, delete "
      "it, or restore it from a backup");
}

namespace {

std::optional<Done> note(Call& call, const Result<LocalStore::Mark>& mark) {
  if (mark.ok()) [[likely]] {
    call.session.mark = *mark;
    return std::nullopt;
  }
  switch (mark.code()) {
    case Code::no_space:
      return call.full ? fail(call,
                              "OOM command not allowed: the store is full; delete keys, or use a "
                              "larger pool")
                       : Done::no_room;
    case Code::invalid_argument:
      return fail(call, "ERR a key has at most 1024 bytes, a value at most 16777216");
    case Code::io_error:
      return fail(call, failure_text(mark.status()));
    case Code::permission_denied:
      return fail(call, fmt::format("READONLY {}", mark.status().message()));
    case Code::damaged:
      return fail(call, fmt::format("DAMAGED {}", mark.status().message()));
    default:
      return fail(call, fmt::format("ERR the store failed: {}", mark.status().message()));
  }
}

}  // namespace

std::optional<Done> put(Call& call, std::string_view key, std::span<const ConstBytes> value,
                        LocalStore::Expiry expires) {
  return note(call, call.store.put(stored_key(key), value, expires));
}

std::optional<Done> put(Call& call, std::string_view key, std::string_view value,
                        LocalStore::Expiry expires) {
  const ConstBytes piece = bytes_of(value);
  return put(call, key, std::span(&piece, 1), expires);
}

std::optional<Done> erase(Call& call, std::string_view key) {
  return note(call, call.store.del(stored_key(key)));
}

std::optional<Done> write_all(Call& call, std::span<const LocalStore::Write> writes) {
  return note(call, call.store.write_all(writes, call.session.progress));
}

std::optional<Done> move(Call& call, std::string_view from, std::string_view to) {
  const Result<kv::Moved> moved =
      kv::move_key(call.store, stored_key(from), stored_key(to), call.session.move);
  if (moved.ok() && *moved == kv::Moved::waits) {
    call.session.moved = from;
    return Done::uncommitted;
  }
  if (moved.code() == Code::not_found) {
    return fail(call, "ERR no such key");
  }
  return note(call, moved.ok() ? Result<LocalStore::Mark>(call.store.now()) : moved.status());
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
