// Handshakes: TLS connections that have begun and are no clients yet. They are bounded, in number
// and in time, and so is how many of them go on in one turn of the loop.
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

class Handshakes final : private Timer {
 public:
  // `close` closes a connection, and calls end() for it.
  Handshakes(Runtime& runtime, std::uint64_t longest_ns, std::function<void(Connection&)> close)
      : runtime_(runtime), longest_ns_(longest_ns), close_(std::move(close)) {}

  // That are under way.
  std::size_t size() const { return under_way_.size(); }

  // One that keeps others waiting makes way: the one of the same guest that began first, or the
  // first of all.
  void begin(Connection& connection) {
    const auto is_neighbour = [&](const Connection* one) { return one->guest == connection.guest; };
    if (!connection.guest.empty() &&
        static_cast<std::size_t>(std::ranges::count_if(under_way_, is_neighbour)) >=
            limits::handshakes_of_guest) {
      close_(**std::ranges::find_if(under_way_, is_neighbour));
    } else if (under_way_.size() >= limits::handshakes) {
      close_(*under_way_.front());
    }
    connection.is_shaking = true;
    connection.shake_end_ns = runtime_.after(longest_ns_);
    under_way_.push_back(&connection);
    if (!armed()) {
      runtime_.arm(*this, connection.shake_end_ns);
    }
  }
  void end(Connection& connection) {
    if (std::exchange(connection.is_shaking, false)) {
      std::erase(under_way_, &connection);
    }
  }

  void turn_begins() { in_turn_ = 0; }
  // Whether one more goes on in this turn.
  bool may_go_on() { return ++in_turn_ <= limits::handshakes_per_turn; }

 private:
  void expire() override {
    const std::uint64_t now_ns = runtime_.now_ns();
    while (!under_way_.empty() && under_way_.front()->shake_end_ns <= now_ns) {
      close_(*under_way_.front());
    }
    if (!under_way_.empty()) {
      runtime_.arm(*this, under_way_.front()->shake_end_ns);
    }
  }

  Runtime& runtime_;
  const std::uint64_t longest_ns_;
  const std::function<void(Connection&)> close_;
  std::vector<Connection*> under_way_;  // in the order in which they began
  std::uint32_t in_turn_ = 0;
};

}  // namespace remora::resp
