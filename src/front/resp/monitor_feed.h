// MonitorFeed: what is run, as lines for those who watch it (MONITOR). The lines are gathered here;
// the owner of the connections takes them soon after.
//
// One thread. Bounded: a line shows so much of its arguments, and lines that nobody takes are lost
// from some size on, all of them. Nobody is to call tell() where nobody watches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/runtime.h"

namespace remora::resp {

struct Command;

class MonitorFeed {
 public:
  explicit MonitorFeed(Runtime& runtime) : runtime_(runtime) {}

  // Those who watch.
  bool any() const { return watchers_ != 0; }
  void came() { ++watchers_; }
  void left() { --watchers_; }

  // A command of the client at this address was run. Those by which a server is administered are
  // not shown, nor what is said with AUTH: as in Redis.
  void tell(std::string_view peer, const Command& command, std::span<const std::string_view> args);

  // There are lines, where there were none.
  std::function<void()> has_lines;
  // Bytes of the lines since the last call of take().
  std::size_t size() const { return text_.size(); }
  // All lines since the last call; nothing: there were too many.
  std::optional<std::string> take();

 private:
  std::uint64_t wall_us();
  void add_arguments(const Command& command, std::span<const std::string_view> args);

  Runtime& runtime_;
  std::size_t watchers_ = 0;
  std::string text_;
  bool is_lost_ = false;
  // A moment by both clocks.
  std::uint64_t known_wall_us_ = 0;
  std::uint64_t known_ns_ = 0;
};

}  // namespace remora::resp
