// OccasionalPoller: serves a descriptor that has something now and then (signals, people's
// connections), and costs a busy loop next to nothing: it calls the system once in many turns, and
// right after the loop has slept.
#pragma once

#include <cstdint>

#include "runtime/poller.h"

namespace remora::server {

class OccasionalPoller : public Poller {
 public:
  bool poll() final {
    if (turns_to_look_ != 0) {
      --turns_to_look_;
      return false;
    }
    turns_to_look_ = turns_per_look;
    return serve();
  }
  bool arm_wake() final {
    turns_to_look_ = 0;
    return true;
  }
  void nothing_came() final { turns_to_look_ = turns_per_look; }
  bool wants_spin() const final { return false; }

 protected:
  // Takes what the descriptor has, without blocking; returns whether there was anything.
  virtual bool serve() = 0;

 private:
  static constexpr std::uint32_t turns_per_look = 128;
  std::uint32_t turns_to_look_ = 0;
};

}  // namespace remora::server
