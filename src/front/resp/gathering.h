// Gathering: how long a server that is faster than its clients lets their requests come together
// before it looks for them.
//
// A server that answers every request as it comes is woken for each, or looks in vain for the next,
// and who sends it pays for the waking. Where many clients ask at once and a look finds few of
// them, it naps instead, deaf to them, for some tens of microseconds. No nap may keep clients
// waiting who have nothing else to do: it is shorter when a look behind it finds about half of
// those that ask at all; where that ends it, it is not tried again for a while; and where few ask,
// or seldom, there is none. Those that ask are counted by their share of the requests: a few that
// are busy among many that are not are a few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "front/resp/limits.h"

namespace remora::resp {

class Gathering {
 public:
  // So long a nap is worth it now; 0: none is.
  std::uint64_t span_ns() const { return span_ns_; }
  // Clients that ask: if all had the same share of the last requests, so many would have made them.
  std::uint32_t clients() const { return clients_; }

  // What is kept with a client.
  struct Seen {
    std::uint32_t window = 0;
    std::uint32_t times = 0;  // in that
  };

  // A client is served, one of so many that are connected.
  void serve(Seen& seen, std::size_t connected) {
    if (seen.window != window_) {
      seen = {.window = window_};
    }
    squares_ += 2 * seen.times++ + 1;
    if (++served_ == limits::gather_window) {
      const std::size_t asking =
          (limits::gather_window * limits::gather_window + squares_ / 2) / squares_;
      clients_ = static_cast<std::uint32_t>(std::min(asking, connected));
      span_ns_ = clients_ < limits::gather_clients ? 0 : span_ns_;
      squares_ = 0;
      served_ = 0;
      ++window_;
    }
  }

  // Without a nap, and soon, a look found so many.
  void found(std::size_t ready) {
    if (clients_ < limits::gather_clients || ready * few >= clients_) {
      return;
    }
    if (rest_ != 0) {
      --rest_;
    } else {
      span_ns_ = limits::gather_first_ns;
    }
  }

  // Behind a nap that nothing cut short, a look found so many. Returns whether that was worth it.
  bool gathered(std::size_t ready) {
    if (clients_ < limits::gather_clients || ready < limits::gather_least) {
      span_ns_ = 0;
      rest_ = limits::gather_rest;
      return false;
    }
    if (ready * too_many > clients_) {
      span_ns_ /= 2;
      if (span_ns_ < limits::gather_shortest_ns) {
        span_ns_ = 0;
        rest_ = limits::gather_rest;
      }
    } else if (ready * few < clients_) {
      span_ns_ = std::min(span_ns_ + span_ns_ / 4, limits::gather_longest_ns);
    }
    return true;
  }

 private:
  // Parts of the clients that ask.
  static constexpr std::size_t few = 4;
  static constexpr std::size_t too_many = 2;

  std::uint64_t span_ns_ = 0;
  std::uint32_t rest_ = 0;  // so many more times it is not begun
  std::uint32_t clients_ = 0;
  std::uint32_t window_ = 1;
  std::uint32_t served_ = 0;   // requests in this window
  std::uint32_t squares_ = 0;  // of the number of each client's, and their sum
};

}  // namespace remora::resp
