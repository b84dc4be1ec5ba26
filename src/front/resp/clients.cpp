// CLIENT: what is known of connections, and what becomes of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "front/resp/families.h"

namespace remora::resp {
namespace {

constexpr std::array<std::string_view, 4> other_types = {"master", "slave", "replica", "pubsub"};

constexpr std::array<std::string_view, 20> client_help = {
    "GETNAME",
    "    The name of this connection.",
    "ID",
    "    The number of this connection.",
    "INFO",
    "    What is known of this connection.",
    "KILL <address>",
    "    Ends the connection from this address.",
    "KILL [ID <number>] [ADDR <address>] [LADDR <address>] [TYPE <type>] [USER <name>] [SKIPME "
    "yes|no]",
    "    Ends the connections of which all of that is so, and tells how many they were.",
    "LIST [TYPE NORMAL|MASTER|REPLICA|PUBSUB]",
    "    What is known of all connections, or of those of one type.",
    "LIST ID <number> [<number> ...]",
    "    The same of these connections.",
    "NO-EVICT ON|OFF",
    "    Nothing: no connection is ended to make room for keys.",
    "REPLY ON|OFF|SKIP",
    "    Whether this connection is told anything; SKIP: but for the next reply.",
    "SETNAME <name>",
    "    Gives this connection a name.",
};

std::string describe(Call& call, const Session& session, const Executor::Kept& kept) {
  Runtime& runtime = call.executor.runtime();
  const std::uint64_t now_ns = runtime.now_ns();
  const std::uint64_t idle_s =
      session.active_ns == 0 || &session == &call.session || now_ns < session.active_ns
          ? 0
          : (now_ns - session.active_ns) / 1'000'000'000;
  const Transaction* const transaction = session.transaction.get();
  const bool is_open = session.is_queueing();
  const std::string multi = is_open ? std::to_string(transaction->commands()) : "-1";
  const std::string flags =
      std::string(session.is_monitor ? "O" : "") + (is_open              ? "x"
                                                    : session.is_monitor ? ""
                                                                         : "N");
  // All that waits is one list of replies, and an argument is never kept by itself.
  return fmt::format(
      "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 "
      "multi={} qbuf={} qbuf-free={} argv-mem=0 multi-mem={} rbs={} rbp=0 obl={} oll=0 omem={} "
      "tot-mem={} events={} cmd={} user=default redir=-1 resp={}\n",
      session.id, session.peer, session.own_end, session.descriptor, session.name,
      (runtime.wall_ms() - session.came_ms) / 1000, idle_s, flags, multi, kept.request_bytes,
      kept.request_room, transaction == nullptr ? 0 : transaction->memory_bytes(), kept.reply_room,
      kept.reply_bytes, kept.reply_bytes, kept.all_bytes, kept.reply_bytes == 0 ? "r" : "rw",
      session.command == nullptr ? "NULL" : session.command->name,
      static_cast<int>(session.protocol));
}

bool is_normal(std::string_view type) {
  return is_word(type, "normal");
}

// Whether there is such a type of client; else the reply is written.
bool is_type(Call& call, std::string_view type) {
  const auto is_it = [&](std::string_view other) { return is_word(type, other); };
  if (is_normal(type) || std::ranges::any_of(other_types, is_it)) {
    return true;
  }
  fail(call, fmt::format("ERR Unknown client type '{}'", printed(type, type.size())));
  return false;
}

// All, those of a type, or those with these numbers. All clients are normal ones.
Done client_list(Call& call) {
  const Args args = call.args;
  const bool by_type = args.size() == 4 && is_word(args[2], "type");
  const bool by_id = args.size() > 3 && is_word(args[2], "id");
  if (args.size() != 2 && !by_type && !by_id) {
    return syntax_error(call);
  }
  if (by_type && !is_type(call, args[3])) {
    return Done::replied;
  }
  std::string list;
  std::map<std::uint64_t, std::string> lines;
  std::set<std::uint64_t> wanted;
  for (std::size_t i = 3; by_id && i < args.size(); ++i) {
    std::int64_t id = 0;
    if (!parse_integer(args[i], id)) {
      return fail(call, "ERR Invalid client ID");
    }
    wanted.insert(static_cast<std::uint64_t>(id));
  }
  if (call.executor.each_session && (!by_type || is_normal(args[3]))) {
    call.executor.each_session([&](const Session& session, const Executor::Kept& kept) {
      if (!by_id) {
        list += describe(call, session, kept);
      } else if (wanted.contains(session.id)) {
        lines[session.id] = describe(call, session, kept);
      }
    });
  }
  // In the order in which they are named.
  for (std::size_t i = 3; by_id && i < args.size(); ++i) {
    std::int64_t id = 0;
    (void)parse_integer(args[i], id);
    if (const auto at = lines.find(static_cast<std::uint64_t>(id)); at != lines.end()) {
      list += at->second;
    }
  }
  call.out.verbatim(list, call.protocol());
  return Done::replied;
}

// --- CLIENT KILL ---

struct Filter {
  std::optional<std::uint64_t> id;
  std::optional<std::string_view> peer;
  std::optional<std::string_view> own_end;
  bool is_normal = true;
  bool is_default = true;
  bool skips_me = true;

  bool takes(const Session& session, const Session& me) const {
    return is_normal && is_default && (!id || *id == session.id) &&
           (!peer || *peer == session.peer) && (!own_end || *own_end == session.own_end) &&
           !(skips_me && session.id == me.id);
  }
};

// Nothing: the reply is written.
std::optional<Filter> filter_of(Call& call) {
  const Args args = call.args;
  Filter filter;
  if (args.size() == 3) {
    filter.peer = args[2];
    filter.skips_me = false;
    return filter;
  }
  for (std::size_t i = 2; i < args.size(); i += 2) {
    if (i + 1 == args.size()) {
      syntax_error(call);
      return std::nullopt;
    }
    const std::string_view value = args[i + 1];
    if (is_word(args[i], "id")) {
      std::int64_t id = 0;
      if (!parse_integer(value, id) || id < 1) {
        fail(call, "ERR client-id should be greater than 0");
        return std::nullopt;
      }
      filter.id = static_cast<std::uint64_t>(id);
    } else if (is_word(args[i], "type")) {
      if (!is_type(call, value)) {
        return std::nullopt;
      }
      filter.is_normal = is_normal(value);
    } else if (is_word(args[i], "addr")) {
      filter.peer = value;
    } else if (is_word(args[i], "laddr")) {
      filter.own_end = value;
    } else if (is_word(args[i], "user")) {
      if (value != "default") {
        fail(call, fmt::format("ERR No such user '{}'", printed(value, value.size())));
        return std::nullopt;
      }
    } else if (is_word(args[i], "skipme") && (is_word(value, "yes") || is_word(value, "no"))) {
      filter.skips_me = is_word(value, "yes");
    } else {
      syntax_error(call);
      return std::nullopt;
    }
  }
  return filter;
}

// Ends connections of others: an admin's alone. What it ends has ended, so no transaction holds it.
Done client_kill(Call& call) {
  if (call.session.access != Access::admin) {
    return fail(call, "NOPERM this user has no permissions to run the 'client|kill' command");
  }
  if (call.is_queued) {
    return fail(call, "ERR CLIENT KILL cannot be taken back; send it outside of MULTI");
  }
  const std::optional<Filter> filter = filter_of(call);
  if (!filter) {
    return Done::replied;
  }
  std::vector<std::uint64_t> ends;
  if (call.executor.each_session) {
    call.executor.each_session([&](const Session& session, const Executor::Kept&) {
      if (filter->takes(session, call.session)) {
        ends.push_back(session.id);
      }
    });
  }
  for (const std::uint64_t id : ends) {
    if (id == call.session.id) {
      call.session.closing = true;
    } else {
      call.executor.end_session(id);
    }
  }
  if (call.args.size() > 3) {
    call.out.integer(static_cast<std::int64_t>(ends.size()));
  } else if (ends.empty()) {
    return fail(call, "ERR No such client");
  } else {
    call.out.ok();
  }
  return Done::replied;
}

Done client_reply(Call& call) {
  using Replies = Session::Replies;
  const std::string_view word = call.args[2];
  if (is_word(word, "on")) {
    call.session.replies = Replies::on;
    call.out.ok();
  } else if (is_word(word, "off")) {
    call.session.replies = Replies::off;
  } else if (is_word(word, "skip")) {
    if (call.session.replies == Replies::on) {
      call.session.replies = Replies::skip_next;
    }
  } else {
    return syntax_error(call);
  }
  return Done::replied;
}

}  // namespace

Done client(Call& call) {
  if (const std::optional<Done> refused = refuse_subcommand(call)) {
    return *refused;
  }
  const auto is = [&](std::string_view name) { return is_word(call.args[1], name); };
  if (is("help")) {
    return help(call, client_help);
  }
  if (is("list")) {
    return client_list(call);
  }
  if (is("kill")) {
    return client_kill(call);
  }
  if (is("reply")) {
    return client_reply(call);
  }
  if (is("setname")) {
    if (take_name(call, call.args[2])) {
      call.out.ok();
    }
  } else if (is("no-evict")) {
    if (!is_word(call.args[2], "on") && !is_word(call.args[2], "off")) {
      return syntax_error(call);
    }
    call.out.ok();
  } else if (is("id")) {
    call.out.integer(static_cast<std::int64_t>(call.session.id));
  } else if (is("info")) {
    call.out.verbatim(
        describe(call, call.session,
                 call.executor.kept_of ? call.executor.kept_of(call.session) : Executor::Kept()),
        call.protocol());
  } else if (call.session.name.empty()) {
    call.out.null(call.protocol());
  } else {
    call.out.bulk(call.session.name);
  }
  return Done::replied;
}

}  // namespace remora::resp
