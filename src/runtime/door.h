// Door: a listening socket in an epoll set that tells what is so, and again as long as it is. While
// nobody can be let in, for want of descriptors as a rule, whoever waits outside would keep a loop
// awake that sleeps at that set. So the door is shut then, and opens by itself after a while.
//
// One thread, the loop's. The set, the socket and the loop outlive it, or forget() is called first.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "runtime/scheduler.h"
#include "runtime/timer.h"

namespace remora {

class Door final : private Timer {
 public:
  static constexpr std::uint64_t rest_ns = 100'000'000;

  explicit Door(Scheduler& scheduler) : scheduler_(scheduler) {}

  // Puts the socket into the set, with this as its data.
  Status open(int set, int listener, std::uint64_t data);
  // Nobody is heard any more until open_again().
  void shut();
  // The same, but for rest_ns at most.
  void rest();
  void open_again();
  // The socket is about to be closed.
  void forget();

  // Whether accept has failed with this for want of something that may come back: time to rest.
  static bool is_want(int error);

 private:
  void expire() override { open_again(); }
  bool listen(bool listens) const;

  Scheduler& scheduler_;
  int set_ = -1;
  int listener_ = -1;
  std::uint64_t data_ = 0;
  bool is_shut_ = false;
};

}  // namespace remora
