#include "runtime/timer_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <tuple>
#include <vector>

#include "base/random.h"

namespace remora {
namespace {

class Idle final : public Timer {
 public:
  void expire() override {}
};

TEST(TimerQueue, gives_the_earliest_first) {
  Idle early, late;
  TimerQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.add(late, 20);
  queue.add(early, 10);
  EXPECT_EQ(queue.size(), 2U);
  EXPECT_EQ(queue.next_due_ns(), 10U);
  EXPECT_EQ(queue.pop().timer, &early);
  EXPECT_FALSE(early.armed());
  EXPECT_TRUE(late.armed());
}

TEST(TimerQueue, same_time_goes_by_tie_then_by_arrival) {
  Idle a, b, c;
  TimerQueue queue;
  queue.add(a, 10, 2);
  queue.add(b, 10, 1);
  queue.add(c, 10, 2);
  EXPECT_EQ(queue.pop().timer, &b);
  EXPECT_EQ(queue.pop().timer, &a);
  EXPECT_EQ(queue.pop().timer, &c);
}

TEST(TimerQueue, a_destroyed_timer_leaves) {
  Idle stays;
  TimerQueue queue;
  queue.add(stays, 20);
  {
    Idle goes;
    queue.add(goes, 10);
  }
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.next_due_ns(), 20U);
}

TEST(TimerQueue, a_destroyed_queue_disarms) {
  Idle timer;
  {
    TimerQueue queue;
    queue.add(timer, 1);
  }
  EXPECT_FALSE(timer.armed());
}

TEST(TimerQueue, keeps_order_through_random_adds_and_removes) {
  Random random(5);
  TimerQueue queue;
  std::deque<Idle> timers(500);
  for (int round = 0; round < 20; ++round) {
    for (Idle& timer : timers) {
      timer.disarm();
      if (random.chance(2, 3)) {
        queue.add(timer, random.below(100), random.below(3));
      }
    }
    const auto armed = std::count_if(timers.begin(), timers.end(),
                                     [](const Idle& timer) { return timer.armed(); });
    EXPECT_EQ(queue.size(), static_cast<std::size_t>(armed));
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> order;
    for (std::size_t left = queue.size() / 2; left > 0; --left) {
      const TimerQueue::Entry entry = queue.pop();
      order.emplace_back(entry.due_ns, entry.tie, entry.sequence);
    }
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
}

TEST(TimerQueue, misuse_ends_the_program) {
  Idle timer;
  TimerQueue queue, other;
  EXPECT_DEATH(queue.pop(), "empty timer queue");
  EXPECT_DEATH(queue.next_due_ns(), "empty timer queue");
  queue.add(timer, 1);
  EXPECT_DEATH(queue.add(timer, 2), "armed already");
  EXPECT_DEATH(other.remove(timer), "not in this queue");
}

}  // namespace
}  // namespace remora
