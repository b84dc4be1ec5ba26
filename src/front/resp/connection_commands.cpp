// Who the client is, how it speaks, and what it waits for.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "front/resp/families.h"
#include "front/resp/limits.h"

namespace remora::resp {
namespace {

bool let_in(Call& call, std::string_view user, std::string_view password) {
  const Settings& settings = call.executor.settings();
  Access access = user == "default" ? call.session.access : Access::none;
  if (settings.needs_password) {
    access = settings.authenticate ? settings.authenticate(user, password) : Access::none;
  }
  if (access == Access::none) {
    fail(call, "WRONGPASS invalid username-password pair or user is disabled.");
    return false;
  }
  call.session.access = access;
  if (access != Access::admin) {
    call.executor.set_monitor(call.session, false);
  }
  return true;
}

}  // namespace

bool take_name(Call& call, std::string_view name) {
  if (name.size() > limits::client_name_bytes) {
    fail(call,
         fmt::format("ERR Client names are at most {} bytes long.", limits::client_name_bytes));
    return false;
  }
  const bool printable =
      std::ranges::all_of(name, [](char letter) { return letter >= '!' && letter <= '~'; });
  if (!printable) {
    fail(call, "ERR Client names cannot contain spaces, newlines or special characters.");
    return false;
  }
  call.session.name = name;
  return true;
}

Done ping(Call& call) {
  if (call.args.size() > 2) {
    return wrong_arity(call, "ping");
  }
  if (call.args.size() == 2) {
    call.out.bulk(call.args[1]);
  } else {
    call.out.raw("+PONG\r\n");
  }
  return Done::replied;
}

Done echo(Call& call) {
  call.out.bulk(call.args[1]);
  return Done::replied;
}

Done quit(Call& call) {
  call.session.closing = true;
  call.out.ok();
  return Done::replied;
}

Done auth(Call& call) {
  if (call.args.size() > 3) {
    return syntax_error(call);
  }
  const bool named = call.args.size() == 3;
  if (!named && !call.executor.settings().needs_password) {
    return fail(call,
                "ERR AUTH <password> called without any password configured for the default user. "
                "Are you sure your configuration is correct?");
  }
  if (let_in(call, named ? call.args[1] : "default", call.args.back())) {
    call.out.ok();
  }
  return Done::replied;
}

Done hello(Call& call) {
  std::int64_t version = 0;
  std::size_t at = 1;
  if (call.args.size() >= 2) {
    if (!parse_integer(call.args[at++], version)) {
      return fail(call, "ERR Protocol version is not an integer or out of range");
    }
    if (version < 2 || version > 3) {
      return fail(call, "NOPROTO unsupported protocol version");
    }
  }
  std::optional<std::string_view> name;
  for (; at < call.args.size(); ++at) {
    const std::size_t more = call.args.size() - at - 1;
    if (is_word(call.args[at], "auth") && more >= 2) {
      if (!let_in(call, call.args[at + 1], call.args[at + 2])) {
        return Done::replied;
      }
      at += 2;
    } else if (is_word(call.args[at], "setname") && more >= 1) {
      name = call.args[++at];
    } else {
      return fail(call, fmt::format("ERR Syntax error in HELLO option '{}'",
                                    printed(call.args[at], call.args[at].size())));
    }
  }
  if (call.session.access == Access::none) {
    return fail(call,
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
                "HELLO AUTH <user> <pass> option can be used to authenticate the client "
                "and select the RESP protocol version at the same time");
  }
  if (name && !take_name(call, *name)) {
    return Done::replied;
  }
  if (version != 0) {
    call.session.protocol = static_cast<Protocol>(version);
  }
  Output& out = call.out;
  out.map(7, call.protocol());
  out.bulk("server");
  out.bulk("redis");
  out.bulk("version");
  out.bulk("7.0.15");
  out.bulk("proto");
  out.integer(static_cast<std::int64_t>(call.protocol()));
  out.bulk("id");
  out.integer(static_cast<std::int64_t>(call.session.id));
  out.bulk("mode");
  out.bulk("standalone");
  out.bulk("role");
  out.bulk("master");
  out.bulk("modules");
  out.array(0);
  return Done::replied;
}

bool is_database(Call& call, std::string_view text) {
  const std::optional<std::int64_t> index = integer_of(call, text);
  if (!index) {
    return false;
  }
  if (*index < std::numeric_limits<int>::min() || *index > std::numeric_limits<int>::max()) {
    fail(call, "ERR value is out of range, value must between -2147483648 and 2147483647");
    return false;
  }
  if (*index != 0) {
    fail(call, "ERR DB index is out of range");
    return false;
  }
  return true;
}

Done select(Call& call) {
  if (is_database(call, call.args[1])) {
    call.out.ok();
  }
  return Done::replied;
}

// As if it had just come.
Done reset(Call& call) {
  Session& session = call.session;
  session.transaction.reset();
  session.protocol = Protocol::two;
  session.access = session.first_access;
  session.name.clear();
  session.replies = Session::Replies::on;
  call.executor.set_monitor(session, false);
  call.out.simple("RESET");
  return Done::replied;
}

// WAITAOF numlocal numreplicas timeout: there are no replicas, so waiting for one ends with the
// time.
Done waitaof(Call& call) {
  std::int64_t local = 0;
  std::int64_t replicas = 0;
  std::int64_t timeout_ms = 0;
  if (!parse_integer(call.args[1], local)) {
    return fail(call, "ERR value is not an integer or out of range");
  }
  if (local < 0 || local > 1) {
    return fail(call, "ERR value is out of range, value must between 0 and 1");
  }
  if (!parse_integer(call.args[2], replicas) || replicas < 0) {
    return fail(call, "ERR value is out of range, must be positive");
  }
  if (!parse_integer(call.args[3], timeout_ms)) {
    return fail(call, "ERR timeout is not an integer or out of range");
  }
  if (timeout_ms < 0) {
    return fail(call, "ERR timeout is negative");
  }
  if (timeout_ms > std::numeric_limits<std::int64_t>::max() -
                       static_cast<std::int64_t>(call.executor.runtime().wall_ms())) {
    return fail(call, "ERR timeout is out of range");
  }
  const bool has_log = call.executor.settings().outlives_process;
  if (local > 0 && !has_log) {
    return fail(call,
                "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
  }
  const bool is_persistent = has_log && call.store.persistent_now() >= call.session.mark;
  // EXEC waits for nothing: its commands are told how things stand.
  if (call.is_queued || ((local == 0 || is_persistent) && replicas == 0)) {
    call.out.array(2);
    call.out.integer(is_persistent ? 1 : 0);
    call.out.integer(0);
    return Done::replied;
  }
  call.executor.set_wait(
      {call.session.mark, local, replicas, static_cast<std::uint64_t>(timeout_ms)});
  return Done::waits;
}

}  // namespace remora::resp
