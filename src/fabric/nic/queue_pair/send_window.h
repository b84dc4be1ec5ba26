// SendWindow: how many packets a requester may have on their way. On most wires that is a constant.
// Where the wire has a bound of its own, and loses what the receiver has no room for, the window is
// halved by every loss and grows again with what is acknowledged, by a quarter for each window.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fabric/nic/limits.h"

namespace remora::fabric::nic {

class SendWindow {
 public:
  std::int32_t packets() const { return static_cast<std::int32_t>(packets_); }

  // For a new connection; as Wire::window_packets.
  void start(std::uint32_t wire_packets) {
    most_ = wire_packets == 0 ? limits::unacknowledged_packets : wire_packets;
    adapts_ = wire_packets != 0;
    packets_ = most_;
    acknowledged_ = 0;
  }

  void lost() {
    if (adapts_) {
      packets_ = std::max(std::min(most_, limits::smallest_window_packets), packets_ / 2);
      acknowledged_ = 0;
    }
  }

  void acknowledged(std::uint32_t packets) {
    if (packets_ == most_) [[likely]] {
      return;
    }
    acknowledged_ += packets;
    if (acknowledged_ >= packets_) {
      acknowledged_ = 0;
      packets_ = std::min(most_, packets_ + packets_ / 4 + 1);
    }
  }

  // Of what a READ may ask for in one request: the parts of a large one are asked for one after the
  // other, so that the window holds for what comes back too. 0: all at once.
  std::uint32_t read_packets() const { return adapts_ ? std::max(1u, most_ / 4) : 0; }

 private:
  std::uint32_t most_ = limits::unacknowledged_packets;
  bool adapts_ = false;
  std::uint32_t packets_ = most_;
  std::uint32_t acknowledged_ = 0;  // since the window last grew
};

}  // namespace remora::fabric::nic
