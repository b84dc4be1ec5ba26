#include "runtime/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "runtime/poll_loop.h"
#include "runtime/runtime_testing.h"

namespace remora {
namespace {

TEST(Worker, does_the_work_on_another_thread_and_the_flow_goes_on_in_the_loop) {
  PollLoop loop;
  Worker worker(loop);
  std::thread::id worked;
  auto work = [&] { worked = std::this_thread::get_id(); };
  loop.block_on(worker.run(work));
  EXPECT_NE(worked, std::thread::id());
  EXPECT_NE(worked, std::this_thread::get_id());
  EXPECT_FALSE(worker.busy());
}

TEST(Worker, does_pieces_one_after_another_in_their_order) {
  PollLoop loop;
  Worker worker(loop);
  std::vector<int> order;  // by the worker alone, and by the loop when all is over
  auto one = [&] { order.push_back(1); };
  auto two = [&] { order.push_back(2); };
  auto three = [&] { order.push_back(3); };
  Task<void> first = worker.run(one);
  Task<void> second = worker.run(two);
  Task<void> third = worker.run(three);
  EXPECT_TRUE(worker.busy());
  loop.block_on(std::move(first));
  loop.block_on(std::move(second));
  loop.block_on(std::move(third));
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(Worker, lets_the_loop_go_on_meanwhile) {
  PollLoop loop;
  Worker worker(loop);
  std::atomic<bool> may_end = false;
  auto work = [&] { may_end.wait(false); };
  Task<void> piece = worker.run(work);
  loop.block_on(nap(loop, 1'000));
  EXPECT_TRUE(worker.busy());
  may_end.store(true);
  may_end.notify_one();
  loop.block_on(std::move(piece));
  EXPECT_FALSE(worker.busy());
}

// Both sleep between pieces, and the loop while it waits for one.
TEST(Worker, wakes_a_loop_that_sleeps) {
  PollLoop loop({.spin_turns = 0});
  Worker worker(loop);
  int sum = 0;
  for (int i = 0; i < 200; ++i) {
    auto work = [&sum, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(i % 4 * 50));
      sum += i;
    };
    loop.block_on(worker.run(work));
  }
  EXPECT_EQ(sum, 199 * 200 / 2);
}

TEST(Worker, is_waited_for_by_a_flow_that_is_abandoned) {
  PollLoop loop;
  Worker worker(loop);
  bool worked = false;
  bool later = false;
  auto work = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    worked = true;
  };
  auto never = [&] { later = true; };
  {
    std::optional<Task<void>> first(worker.run(work));
    std::optional<Task<void>> second(worker.run(never));
    const AbandonScope abandon;
    second.reset();
    first.reset();
  }
  EXPECT_TRUE(worked);
  EXPECT_FALSE(later);
  EXPECT_FALSE(worker.busy());
}

TEST(Worker, ends_without_having_had_anything_to_do) {
  PollLoop loop;
  for (int i = 0; i < 20; ++i) {
    const Worker worker(loop);
  }
}

}  // namespace
}  // namespace remora
