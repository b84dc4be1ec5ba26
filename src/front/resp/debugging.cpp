// What people use to look for mistakes, their own or the server's: MONITOR, DEBUG.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "front/resp/families.h"

namespace remora::resp {
namespace {

constexpr std::array<std::string_view, 2> debug_help = {
    "SLEEP <seconds>",
    "    Replies after so long. This connection alone waits; others are served meanwhile.",
};

// A sleep of the server would stop native clients too, whose requests it serves on the same loop.
Done debug_sleep(Call& call) {
  long double seconds = 0;
  if (!parse_float(call.args[2], seconds)) {
    return fail(call, "ERR value is not a valid float");
  }
  if (seconds > limits::debug_sleep_s) {
    return fail(call,
                fmt::format("ERR DEBUG SLEEP takes at most {} seconds", limits::debug_sleep_s));
  }
  if (call.is_queued) {
    return fail(call, "ERR a transaction does not wait; send DEBUG SLEEP outside of MULTI");
  }
  if (seconds <= 0) {
    call.out.ok();
    return Done::replied;
  }
  PersistenceWait wait;
  wait.sleep_ns = static_cast<std::uint64_t>(std::ceil(seconds * 1e9L));
  call.executor.set_wait(wait);
  return Done::waits;
}

}  // namespace

Done debug(Call& call) {
  if (call.args.size() == 3 && is_word(call.args[1], "sleep")) {
    return debug_sleep(call);
  }
  if (call.args.size() == 2 && is_word(call.args[1], "help")) {
    return help(call, debug_help);
  }
  return fail(call, fmt::format("ERR unknown subcommand or wrong number of arguments for '{}'. Try "
                                "DEBUG HELP.",
                                printed(call.args[1])));
}

// Again from a monitor: nothing, not even a reply, as in Redis.
Done monitor(Call& call) {
  if (call.is_queued) {
    return fail(call, "ERR MONITOR isn't allowed for DENY BLOCKING client");
  }
  if (!call.session.is_monitor) {
    call.executor.set_monitor(call.session, true);
    call.out.ok();
  }
  return Done::replied;
}

}  // namespace remora::resp
