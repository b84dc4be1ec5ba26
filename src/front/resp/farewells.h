// Farewells: connections that were told why they end, and are read from a little longer. A client
// that is in the middle of a long request reads nothing before it has sent all of it. Were its
// connection closed with bytes unread, the system would reset it: the client could not go on
// sending, and would take that for all that there is to know, or lose the reply. So what it still
// sends is thrown away until it hangs up: so many bytes, for so long.
//
// One thread, the loop's. The runtime outlives it; connections end here before they go.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "front/resp/connection.h"
#include "front/resp/limits.h"
#include "runtime/runtime.h"
#include "runtime/timer.h"

namespace remora::resp {

class Farewells final : private Timer {
 public:
  // `close` closes a connection, and calls end() for it. There are `most` at a time, one at least.
  Farewells(Runtime& runtime, std::uint64_t longest_ns, std::size_t most,
            std::function<void(Connection&)> close)
      : runtime_(runtime), longest_ns_(longest_ns), most_(most), close_(std::move(close)) {}

  std::size_t size() const { return leaving_.size(); }

  // Its last reply has left. Where there are too many, the one that began first goes. One that is
  // leaving already does so as before.
  void begin(Connection& connection) {
    if (connection.is_leaving) {
      return;
    }
    if (leaving_.size() >= most_) {
      close_(*leaving_.front());
    }
    connection.is_leaving = true;
    connection.leave_end_ns = runtime_.after(longest_ns_);
    connection.to_discard = limits::farewell_bytes;
    leaving_.push_back(&connection);
    if (!armed()) {
      runtime_.arm(*this, connection.leave_end_ns);
    }
  }
  // So many bytes of it were thrown away; false: it has sent too much.
  static bool discard(Connection& connection, std::size_t bytes) {
    connection.to_discard -= std::min<std::uint64_t>(bytes, connection.to_discard);
    return connection.to_discard != 0;
  }
  void end(Connection& connection) {
    if (std::exchange(connection.is_leaving, false)) {
      std::erase(leaving_, &connection);
    }
  }

 private:
  void expire() override {
    const std::uint64_t now_ns = runtime_.now_ns();
    while (!leaving_.empty() && leaving_.front()->leave_end_ns <= now_ns) {
      close_(*leaving_.front());
    }
    if (!leaving_.empty()) {
      runtime_.arm(*this, leaving_.front()->leave_end_ns);
    }
  }

  Runtime& runtime_;
  const std::uint64_t longest_ns_;
  const std::size_t most_;
  const std::function<void(Connection&)> close_;
  std::vector<Connection*> leaving_;  // in the order in which they began
};

}  // namespace remora::resp
