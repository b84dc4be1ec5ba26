// Whole values: GET, SET and their kin.
#include <string>
#include <vector>

#include "front/resp/families.h"

namespace remora::resp {

using kv::LocalStore;

namespace {

// What may stand behind SET key value, or GETEX key.
struct Options {
  bool nx = false;
  bool xx = false;
  bool get = false;
  bool keep_ttl = false;
  bool persist = false;
  std::string_view time;  // empty: none
  bool has_time = false;
  TimeUnit unit = TimeUnit::seconds;
  TimeBase base = TimeBase::now;
};

enum class For : std::uint8_t { set, getex };

struct TimeOption {
  std::string_view word;
  TimeUnit unit;
  TimeBase base;
};
constexpr TimeOption time_options[] = {{"ex", TimeUnit::seconds, TimeBase::now},
                                       {"px", TimeUnit::milliseconds, TimeBase::now},
                                       {"exat", TimeUnit::seconds, TimeBase::epoch},
                                       {"pxat", TimeUnit::milliseconds, TimeBase::epoch}};

// Takes a time option at args[at], which moves on to its number. The same one may come again.
bool take_time(Args args, std::size_t& at, Options& options) {
  for (const TimeOption& option : time_options) {
    if (!is_word(args[at], option.word)) {
      continue;
    }
    const bool is_another =
        options.has_time && (options.unit != option.unit || options.base != option.base);
    if (options.keep_ttl || options.persist || is_another || at + 1 == args.size()) {
      return false;
    }
    options.has_time = true;
    options.unit = option.unit;
    options.base = option.base;
    options.time = args[++at];
    return true;
  }
  return false;
}

std::optional<Options> options_of(Args args, std::size_t from, For command) {
  Options options;
  const bool is_set = command == For::set;
  for (std::size_t at = from; at < args.size(); ++at) {
    const std::string_view word = args[at];
    if (is_set && is_word(word, "nx") && !options.xx) {
      options.nx = true;
    } else if (is_set && is_word(word, "xx") && !options.nx) {
      options.xx = true;
    } else if (is_set && is_word(word, "get")) {
      options.get = true;
    } else if (is_set && is_word(word, "keepttl") && !options.has_time) {
      options.keep_ttl = true;
    } else if (!is_set && is_word(word, "persist") && !options.has_time) {
      options.persist = true;
    } else if (!take_time(args, at, options)) {
      return std::nullopt;
    }
  }
  return options;
}

// A value that replaces what was there, and its time.
std::optional<Done> replace(Call& call, std::string_view key, std::string_view value,
                            std::int64_t expires) {
  return put(call, key, value, static_cast<LocalStore::Expiry>(expires));
}

// A value that was written from `before` to `written` is not the reply: what came behind it is, an
// error or nothing.
void take_back(Call& call, std::size_t before, std::size_t written) {
  const std::string error(call.out.text().substr(written));
  call.out.truncate(before);
  call.out.raw(error);
}

Done set_for_a_time(Call& call, TimeUnit unit) {
  const std::optional<std::int64_t> expires = expiry_of(call, call.args[2], unit, TimeBase::now);
  if (!expires) {
    return Done::replied;
  }
  if (const std::optional<Done> failed = replace(call, call.key(), call.args[3], *expires)) {
    return *failed;
  }
  call.out.ok();
  return Done::replied;
}

}  // namespace

Done get(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (found && found->value.size() >= limits::gather_bytes && !call.is_queued) {
    ++call.executor.counters().hits;
    call.out.borrow(as_text(found->value));
    return Done::replied;
  }
  reply_value(call, found);
  return Done::replied;
}

Done set(Call& call) {
  if (call.args.size() == 3) [[likely]] {
    if (const std::optional<Done> failed = put(call, call.key(), call.args[2], 0)) {
      return *failed;
    }
    call.out.ok();
    return Done::replied;
  }
  const std::optional<Options> options = options_of(call.args, 3, For::set);
  if (!options) {
    return syntax_error(call);
  }
  std::int64_t expires = 0;
  if (options->has_time) {
    const std::optional<std::int64_t> time =
        expiry_of(call, options->time, options->unit, options->base);
    if (!time) {
      return Done::replied;
    }
    expires = *time;
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (options->get) {
    if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
      return *refused;
    }
  }
  const std::size_t before = call.out.size();
  if (options->get) {
    reply_value(call, found);
  }
  if ((options->nx && found) || (options->xx && !found)) {
    if (!options->get) {
      call.out.null(call.protocol());
    }
    return Done::replied;
  }
  if (options->keep_ttl && found) {
    expires = static_cast<std::int64_t>(found->expires);
  }
  const std::size_t written = call.out.size();
  if (const std::optional<Done> failed = replace(call, call.key(), call.args[2], expires)) {
    take_back(call, before, written);
    return *failed;
  }
  if (!options->get) {
    call.out.ok();
  }
  return Done::replied;
}

Done setex(Call& call) {
  return set_for_a_time(call, TimeUnit::seconds);
}

Done psetex(Call& call) {
  return set_for_a_time(call, TimeUnit::milliseconds);
}

Done setnx(Call& call) {
  const bool is_there = look_up(call, call.key()).has_value();
  if (!is_there) {
    if (const std::optional<Done> failed = put(call, call.key(), call.args[2], 0)) {
      return *failed;
    }
  }
  call.out.integer(is_there ? 0 : 1);
  return Done::replied;
}

Done getset(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const std::size_t before = call.out.size();
  reply_value(call, found);
  const std::size_t written = call.out.size();
  if (const std::optional<Done> failed = put(call, call.key(), call.args[2], 0)) {
    take_back(call, before, written);
    return *failed;
  }
  return Done::replied;
}

Done getex(Call& call) {
  const std::optional<Options> options = options_of(call.args, 2, For::getex);
  if (!options) {
    return syntax_error(call);
  }
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (!found || found->damaged) {
    reply_value(call, found);
    return Done::replied;
  }
  std::int64_t expires = 0;
  if (options->has_time) {
    const std::optional<std::int64_t> time =
        expiry_of(call, options->time, options->unit, options->base);
    if (!time) {
      return Done::replied;
    }
    expires = *time;
  }
  const std::string value(as_text(found->value));
  const bool is_over =
      options->has_time && static_cast<std::uint64_t>(expires) <= call.executor.runtime().wall_ms();
  std::optional<Done> failed;
  if (is_over) {
    failed = erase(call, call.key());
  } else if (options->has_time || (options->persist && found->expires != 0)) {
    failed = replace(call, call.key(), value, expires);
  }
  if (failed) {
    return *failed;
  }
  ++call.executor.counters().hits;
  call.out.bulk(value);
  return Done::replied;
}

Done getdel(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const std::size_t before = call.out.size();
  reply_value(call, found);
  const std::size_t written = call.out.size();
  if (found) {
    if (const std::optional<Done> failed = erase(call, call.key())) {
      take_back(call, before, written);
      return *failed;
    }
  }
  return Done::replied;
}

Done mget(Call& call) {
  call.out.array(call.args.size() - 1);
  for (const std::string_view key : call.args.subspan(1)) {
    reply_value(call, look_up(call, key));
  }
  return Done::replied;
}

namespace {

std::vector<LocalStore::Write> pairs_of(Call& call) {
  std::vector<LocalStore::Write> writes;
  writes.reserve(call.args.size() / 2);
  for (std::size_t i = 1; i < call.args.size(); i += 2) {
    writes.push_back({stored_key(call.args[i]), bytes_of(call.args[i + 1])});
  }
  return writes;
}

}  // namespace

Done mset(Call& call) {
  if (call.args.size() % 2 == 0) {
    return wrong_arity(call, "mset");
  }
  if (const Together together = write_together(call, {}, pairs_of(call)); together.failed) {
    return *together.failed;
  }
  call.out.ok();
  return Done::replied;
}

Done msetnx(Call& call) {
  if (call.args.size() % 2 == 0) {
    return wrong_arity(call, "msetnx");
  }
  const std::vector<LocalStore::Write> writes = pairs_of(call);
  std::vector<kv::Condition> absent;
  absent.reserve(writes.size());
  for (const LocalStore::Write& each : writes) {
    if (look_up(call, shown_key(each.key))) {  // a damaged one too
      call.out.integer(0);
      return Done::replied;
    }
    absent.push_back({each.key, 0});
  }
  const Together together = write_together(call, absent, writes);
  if (together.failed) {
    return *together.failed;
  }
  call.out.integer(together.conflict ? 0 : 1);
  return Done::replied;
}

}  // namespace remora::resp
