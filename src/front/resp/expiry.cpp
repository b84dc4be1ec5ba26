// When keys end.
#include <fmt/format.h>

#include <limits>

#include "front/resp/families.h"

namespace remora::resp {

using kv::LocalStore;

namespace {

struct Conditions {
  bool nx = false;
  bool xx = false;
  bool gt = false;
  bool lt = false;
};

// Nothing: the reply is written.
std::optional<Conditions> conditions_of(Call& call) {
  Conditions conditions;
  for (const std::string_view word : call.args.subspan(3)) {
    if (is_word(word, "nx")) {
      conditions.nx = true;
    } else if (is_word(word, "xx")) {
      conditions.xx = true;
    } else if (is_word(word, "gt")) {
      conditions.gt = true;
    } else if (is_word(word, "lt")) {
      conditions.lt = true;
    } else {
      fail(call, fmt::format("ERR Unsupported option {}", printed(word, word.size())));
      return std::nullopt;
    }
  }
  if (conditions.nx && (conditions.xx || conditions.gt || conditions.lt)) {
    fail(call, "ERR NX and XX, GT or LT options at the same time are not compatible");
    return std::nullopt;
  }
  if (conditions.gt && conditions.lt) {
    fail(call, "ERR GT and LT options at the same time are not compatible");
    return std::nullopt;
  }
  return conditions;
}

// No time is later than all others.
bool allow(const Conditions& conditions, std::int64_t when, std::int64_t current) {
  const bool has_time = current != 0;
  return !(conditions.nx && has_time) && !(conditions.xx && !has_time) &&
         !(conditions.gt && (!has_time || when <= current)) &&
         !(conditions.lt && has_time && when >= current);
}

Done set_time(Call& call, TimeUnit unit, TimeBase base) {
  const std::optional<Conditions> conditions = conditions_of(call);
  const std::optional<std::int64_t> given =
      conditions ? integer_of(call, call.args[2]) : std::nullopt;
  if (!given) {
    return Done::replied;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const auto now = static_cast<std::int64_t>(call.executor.runtime().wall_ms());
  const std::int64_t scale = unit == TimeUnit::seconds ? 1000 : 1;
  const std::int64_t begin = base == TimeBase::now ? now : 0;
  if (*given > most / scale || *given < least / scale || *given * scale > most - begin) {
    return fail(call, fmt::format("ERR invalid expire time in '{}' command",
                                  find_command(call.args[0])->name));
  }
  const std::int64_t when = *given * scale + begin;
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  if (!found || !allow(*conditions, when, static_cast<std::int64_t>(found->expires))) {
    call.out.integer(0);
    return Done::replied;
  }
  const std::optional<Done> failed = when <= now ? erase(call, call.key())
                                                 : put(call, call.key(), as_text(found->value),
                                                       static_cast<LocalStore::Expiry>(when));
  if (failed) {
    return *failed;
  }
  call.out.integer(1);
  return Done::replied;
}

// What is left, or when it is over; -1: never; -2: there is no key.
Done tell_time(Call& call, TimeUnit unit, TimeBase base) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (!found || found->expires == 0) {
    call.out.integer(found ? -1 : -2);
    return Done::replied;
  }
  const std::uint64_t now = base == TimeBase::now ? call.executor.runtime().wall_ms() : 0;
  const std::uint64_t value = found->expires > now ? found->expires - now : 0;
  call.out.integer(
      static_cast<std::int64_t>(unit == TimeUnit::seconds ? (value + 500) / 1000 : value));
  return Done::replied;
}

}  // namespace

Done expire(Call& call) {
  return set_time(call, TimeUnit::seconds, TimeBase::now);
}

Done pexpire(Call& call) {
  return set_time(call, TimeUnit::milliseconds, TimeBase::now);
}

Done expireat(Call& call) {
  return set_time(call, TimeUnit::seconds, TimeBase::epoch);
}

Done pexpireat(Call& call) {
  return set_time(call, TimeUnit::milliseconds, TimeBase::epoch);
}

Done ttl(Call& call) {
  return tell_time(call, TimeUnit::seconds, TimeBase::now);
}

Done pttl(Call& call) {
  return tell_time(call, TimeUnit::milliseconds, TimeBase::now);
}

Done expiretime(Call& call) {
  return tell_time(call, TimeUnit::seconds, TimeBase::epoch);
}

Done pexpiretime(Call& call) {
  return tell_time(call, TimeUnit::milliseconds, TimeBase::epoch);
}

Done persist(Call& call) {
  const std::optional<LocalStore::Found> found = look_up(call, call.key());
  if (const std::optional<Done> refused = refuse_damaged(call, found)) [[unlikely]] {
    return *refused;
  }
  const bool has_time = found && found->expires != 0;
  if (has_time) {
    if (const std::optional<Done> failed = put(call, call.key(), as_text(found->value), 0)) {
      return *failed;
    }
  }
  call.out.integer(has_time ? 1 : 0);
  return Done::replied;
}

}  // namespace remora::resp
