// Monitors: connections that are told what all others ask for (MONITOR). The lines of one turn
// leave together, behind its replies. A monitor that takes too little is cut off, as any client is
// that does not take its replies; so are all where one turn has more lines than are kept.
//
// One thread, the loop's. All that is handed in outlives it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "front/resp/desk.h"
#include "front/resp/monitor_feed.h"
#include "runtime/runtime.h"
#include "runtime/timer.h"

namespace remora::resp {

class Monitors final : private Timer {
 public:
  Monitors(Runtime& runtime, MonitorFeed& feed, Desk& desk) : feed_(feed), desk_(desk) {
    feed_.has_lines = [this, &runtime] {
      if (!armed()) {
        runtime.run_soon(*this);
      }
    };
  }

  // From the next line on.
  void add(Connection& connection) { watchers_.push_back({&connection, feed_.size()}); }
  void forget(Connection& connection) {
    std::erase_if(watchers_, [&](const Watcher& one) { return one.connection == &connection; });
  }

 private:
  struct Watcher {
    Connection* connection = nullptr;
    std::size_t from = 0;  // of the lines that are gathered now
  };

  void expire() override {
    const std::optional<std::string> lines = feed_.take();
    const std::vector<Watcher> watchers = watchers_;
    for (Watcher& each : watchers_) {
      each.from = 0;
    }
    for (const auto& [connection, from] : watchers) {
      if (connection->dead || connection->session.closing) {
        continue;  // what others keep was too much; or it ends when it has what it is owed
      }
      if (!lines) {
        desk_.close(*connection);
      } else {
        tell(*connection, std::string_view(*lines).substr(std::min(from, lines->size())));
      }
    }
    desk_.bury();
  }
  void tell(Connection& connection, std::string_view lines) {
    if (connection.session.replies != Session::Replies::off && !lines.empty()) {
      connection.out.append(lines);
      if (desk_.send(connection)) {
        desk_.count_kept(connection);
      }
    }
  }

  MonitorFeed& feed_;
  Desk& desk_;
  std::vector<Watcher> watchers_;
};

}  // namespace remora::resp
