// Runs of commands at which somebody looks: by a clock, or as a monitor.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "front/resp/command.h"

namespace remora::resp {

void Executor::choose_timing() {
  stats_.time_every_call(latencies_.is_on() || monitor_feed_.any());
}

Done Executor::run_timed(Call& call, const Command& command) {
  const std::uint64_t begun_ns = runtime_.now_ns();
  const Done done = command.run(call);
  const std::uint64_t took_ns = runtime_.now_ns() - begun_ns;
  stats_.add_time(place_of(command), took_ns);
  if (latencies_.is_on()) [[unlikely]] {
    latencies_.note((command.flags & fast) != 0 ? LatencyEvents::Kind::fast_command
                                                : LatencyEvents::Kind::command,
                    took_ns, runtime_.wall_ms());
  }
  if (stats_.is_slow(took_ns) && (command.flags & (skip_slowlog | no_auth)) == 0)
      [[unlikely]] {  // passwords are none of its
    keep_slow(call, took_ns);
  }
  // What EXEC runs it tells itself, when all of it has happened.
  if (monitor_feed_.any() && !call.is_queued && done != Done::no_room && done != Done::again)
      [[unlikely]] {
    monitor_feed_.tell(call.session.peer, command, call.args);
  }
  return done;
}

void Executor::keep_slow(const Call& call, std::uint64_t took_ns) {
  SlowCommand slow;
  slow.when_ms = runtime_.wall_ms();
  slow.took_ns = took_ns;
  slow.peer = call.session.peer;
  slow.name = call.session.name;
  const std::size_t shown = std::min(call.args.size(), limits::slow_arguments);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string_view arg = call.args[i];
    slow.args.push_back(i + 1 == shown && call.args.size() > shown
                            ? fmt::format("... ({} more arguments)", call.args.size() - shown + 1)
                        : arg.size() > limits::slow_argument_bytes
                            ? fmt::format("{}... ({} more bytes)",
                                          arg.substr(0, limits::slow_argument_bytes),
                                          arg.size() - limits::slow_argument_bytes)
                            : std::string(arg));
  }
  stats_.add_slow(std::move(slow));
}

void Executor::set_monitor(Session& session, bool is_monitor) {
  if (session.is_monitor == is_monitor) {
    return;
  }
  session.is_monitor = is_monitor;
  is_monitor ? monitor_feed_.came() : monitor_feed_.left();
  choose_timing();
  if (monitor_changed) {
    monitor_changed(session);
  }
}

}  // namespace remora::resp
