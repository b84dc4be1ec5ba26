// TimerQueue: armed timers, earliest first. Timers due at the same time come in the order of their
// tie number, and with equal tie numbers in the order in which they were added. A binary heap:
// adding and removing cost log n, and allocate only while the queue grows past its largest size so
// far. It owns no timer. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/timer.h"

namespace remora {

class TimerQueue {
 public:
  struct Entry {
    std::uint64_t due_ns;
    std::uint64_t tie;
    std::uint64_t sequence;  // counts the timers ever added
    Timer* timer;
  };

  TimerQueue() = default;
  TimerQueue(const TimerQueue&) = delete;
  TimerQueue& operator=(const TimerQueue&) = delete;
  ~TimerQueue() { clear(); }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // When the first is due. The queue must not be empty.
  std::uint64_t next_due_ns() const;

  // The timer must not be armed.
  void add(Timer& timer, std::uint64_t due_ns, std::uint64_t tie = 0);
  // The timer must be in this queue.
  void remove(Timer& timer);
  // Removes the first and returns it. The queue must not be empty.
  Entry pop();
  // Disarms all.
  void clear();

 private:
  static bool before(const Entry& a, const Entry& b);
  void put(std::size_t slot, const Entry& entry);
  void sift_up(std::size_t slot, const Entry& entry);
  void sift_down(std::size_t slot, const Entry& entry);

  std::vector<Entry> heap_;
  std::uint64_t added_ = 0;
};

}  // namespace remora
