#include "front/resp/monitor_feed.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "front/resp/command.h"
#include "front/resp/limits.h"
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

// From where on so many arguments say who the client is; none: `size` is 0.
struct Secret {
  std::size_t from = 0;
  std::size_t size = 0;

  bool has(std::size_t i) const { return i >= from && i - from < size; }
};

Secret secret_of(const Command& command, Args args) {
  if (command.name == "auth") {
    return {1, args.size() - 1};
  }
  if (command.name == "hello") {
    for (std::size_t i = 2; i < args.size(); ++i) {
      if (is_word(args[i], "auth")) {
        return {i + 1, 2};
      }
    }
  }
  return {};
}

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
  const Secret secret = secret_of(command, args);
  std::size_t left = limits::monitor_line_bytes;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (left == 0) {
      fmt::format_to(std::back_inserter(text_), " \"... ({} more arguments)\"", args.size() - i);
      return;
    }
    text_ += ' ';
    if (secret.has(i)) {
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
