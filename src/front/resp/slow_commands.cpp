// SLOWLOG: commands that took long.
#include <algorithm>
#include <array>

#include "front/resp/families.h"

namespace remora::resp {
namespace {

constexpr std::array<std::string_view, 6> slowlog_help = {
    "GET [<count>]",
    "    The slowest commands of late: number, time, microseconds, arguments, client. -1: all.",
    "LEN",
    "    How many there are.",
    "RESET",
    "    Forgets them.",
};

Done slowlog_get(Call& call) {
  constexpr std::size_t usual = 10;
  const auto& kept = call.executor.stats().slow();
  std::size_t count = std::min(usual, kept.size());
  if (call.args.size() == 3) {
    std::int64_t wanted = 0;
    if (!parse_integer(call.args[2], wanted) || wanted < -1) {
      return fail(call, "ERR count should be greater than or equal to -1");
    }
    count = wanted == -1 ? kept.size() : std::min(static_cast<std::size_t>(wanted), kept.size());
  }
  Output& out = call.out;
  out.array(count);
  for (std::size_t i = 0; i < count; ++i) {
    const SlowCommand& each = kept[i];
    out.array(6);
    out.integer(static_cast<std::int64_t>(each.id));
    out.integer(static_cast<std::int64_t>(each.when_ms / 1000));
    out.integer(static_cast<std::int64_t>(each.took_ns / 1000));
    out.array(each.args.size());
    for (const std::string& arg : each.args) {
      out.bulk(arg);
    }
    out.bulk(each.peer);
    out.bulk(each.name);
  }
  return Done::replied;
}

}  // namespace

Done slowlog(Call& call) {
  if (const std::optional<Done> refused = refuse_subcommand(call)) {
    return *refused;
  }
  if (is_word(call.args[1], "help")) {
    return help(call, slowlog_help);
  }
  if (is_word(call.args[1], "get")) {
    return slowlog_get(call);
  }
  if (is_word(call.args[1], "len")) {
    call.out.integer(static_cast<std::int64_t>(call.executor.stats().slow().size()));
  } else {
    call.executor.stats().forget_slow();
    call.out.ok();
  }
  return Done::replied;
}

}  // namespace remora::resp
