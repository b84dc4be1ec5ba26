#include "front/resp/monitor_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "front/resp/command.h"
#include "front/resp/limits.h"
#include "front/resp/number.h"
#include "front/resp/quoted.h"

namespace remora::resp {
namespace {

bool is_shown(const Command& command, Args args) {
  if ((command.flags & admin) != 0) {
    return false;
  }
  const auto is = [&](std::string_view word) { return is_word(args[1], word); };
  return command.name != "client" || args.size() < 2 ||
         !(is("kill") || is("list") || is("no-evict"));
}

// Which arguments of a command say who the client is. HELLO is read as it is run; what cannot be
// read so may be a password that stands in the wrong place.
class Secrets {
 public:
  explicit Secrets(const Command& command)
      : next_(command.name == "auth"    ? Next::secret
              : command.name == "hello" ? Next::version
                                        : Next::plain) {}

  // Asked of each behind the name, in order.
  bool hides(std::string_view argument) {
    switch (next_) {
      case Next::plain:
        return false;
      case Next::secret:
        return true;
      case Next::version: {
        std::int64_t version = 0;
        next_ = parse_integer(argument, version) ? Next::option : Next::secret;
        break;
      }
      case Next::option:
        next_ = is_word(argument, "auth")      ? Next::user
                : is_word(argument, "setname") ? Next::name
                                               : Next::secret;
        break;
      case Next::name:
        next_ = Next::option;
        return false;
      case Next::user:
        next_ = Next::password;
        return true;
      case Next::password:
        next_ = Next::option;
        return true;
    }
    return next_ == Next::secret;
  }

 private:
  // What comes next; behind the first secret and a plain one there is nothing else.
  enum class Next : std::uint8_t { plain, secret, version, option, name, user, password };

  Next next_;
};

}  // namespace

// The wall clock tells milliseconds alone; within one, the other clock tells how time goes on.
std::uint64_t MonitorFeed::wall_us() {
  const std::uint64_t now_ns = runtime_.now_ns();
  const std::uint64_t wall_ms = runtime_.wall_ms();
  const std::uint64_t guess_us = known_wall_us_ + (now_ns - known_ns_) / 1000;
  // The known moment was up to a millisecond later than the wall clock could say.
  if (guess_us / 1000 == wall_ms || guess_us / 1000 + 1 == wall_ms) {
    return guess_us;
  }
  known_wall_us_ = wall_ms * 1000;
  known_ns_ = now_ns;
  return known_wall_us_;
}

void MonitorFeed::tell(std::string_view peer, const Command& command, Args args) {
  if (is_lost_ || !is_shown(command, args)) {
    return;
  }
  const bool is_first = text_.empty();
  const std::uint64_t now_us = wall_us();
  fmt::format_to(std::back_inserter(text_), "+{}.{:06} [0 {}]", now_us / 1'000'000,
                 now_us % 1'000'000, peer);
  add_arguments(command, args);
  text_ += "\r\n";
  if (text_.size() > limits::monitor_text_bytes) {
    is_lost_ = true;
    std::string().swap(text_);
  }
  if (is_first && has_lines) {
    has_lines();
  }
}

void MonitorFeed::add_arguments(const Command& command, Args args) {
  Secrets secrets(command);
  std::size_t left = limits::monitor_line_bytes;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (left == 0) {
      fmt::format_to(std::back_inserter(text_), " \"... ({} more arguments)\"", args.size() - i);
      return;
    }
    text_ += ' ';
    if (i != 0 && secrets.hides(args[i])) {
      text_ += "\"(redacted)\"";
      continue;
    }
    const std::string_view shown = args[i].substr(0, left);
    append_quoted(text_, shown);
    if (shown.size() < args[i].size()) {
      text_.pop_back();
      fmt::format_to(std::back_inserter(text_), "... ({} more bytes)\"",
                     args[i].size() - shown.size());
    }
    left -= std::max<std::size_t>(shown.size(), 1);
  }
}

std::optional<std::string> MonitorFeed::take() {
  if (std::exchange(is_lost_, false)) {
    return std::nullopt;
  }
  return std::exchange(text_, {});
}

}  // namespace remora::resp
