// What every Runtime promises, held against each of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/event.h"
#include "runtime/poll_loop.h"
#include "runtime/semaphore.h"
#include "runtime/virtual_loop.h"
#include "runtime/when_all.h"

namespace remora {
namespace {

struct World {
  const char* name;
  std::function<std::unique_ptr<Runtime>()> make;
};

std::unique_ptr<Runtime> make_virtual(bool shuffle_ties) {
  auto loop = std::make_unique<VirtualLoop>(VirtualLoopOptions{.shuffle_ties = shuffle_ties});
  loop->add_cores(2);
  return loop;
}

const World worlds[] = {
    {"real", [] { return std::make_unique<PollLoop>(); }},
    {"real_that_parks_at_once",
     [] { return std::make_unique<PollLoop>(PollLoopOptions{.spin_turns = 0}); }},
    {"virtual", [] { return make_virtual(false); }},
    {"virtual_shuffled", [] { return make_virtual(true); }},
};

// Only order is asserted, never how long something took.
constexpr std::uint64_t step_ns = 1'000'000;

class Loop : public testing::TestWithParam<World> {
 protected:
  Task<void> sleep_then_note(std::uint64_t due_ns, int number) {
    co_await runtime.sleep_until(due_ns);
    EXPECT_GE(runtime.now_ns(), due_ns);
    notes.push_back(number);
  }
  Task<void> yield_times(int times) {
    for (int i = 0; i < times; ++i) {
      co_await runtime.yield();
    }
  }
  auto byte_is_set() {
    return [this] { return byte != std::byte{}; };
  }
  void place() {
    byte = std::byte{1};
    runtime.placed(range());
  }
  Bytes range() { return Bytes(&byte, 1); }

  const std::unique_ptr<Runtime> owner = GetParam().make();
  Runtime& runtime = *owner;
  std::vector<int> notes;
  std::byte byte{};
};

INSTANTIATE_TEST_SUITE_P(Worlds, Loop, testing::ValuesIn(worlds),
                         [](const auto& world) { return std::string(world.param.name); });

TEST_P(Loop, sleepers_wake_in_the_order_of_their_times) {
  const std::uint64_t start = runtime.now_ns();
  std::vector<Task<void>> tasks;
  tasks.push_back(sleep_then_note(start + 3 * step_ns, 3));
  tasks.push_back(sleep_then_note(start + 1 * step_ns, 1));
  tasks.push_back(sleep_then_note(start + 2 * step_ns, 2));
  runtime.block_on(when_all(std::move(tasks)));
  EXPECT_EQ(notes, (std::vector<int>{1, 2, 3}));
}

TEST_P(Loop, a_time_that_has_passed_does_not_suspend) {
  EXPECT_TRUE(sleep_then_note(runtime.now_ns(), 1).finished());
  EXPECT_TRUE(sleep_then_note(0, 1).finished());
}

TEST_P(Loop, a_span_beyond_the_clock_is_never) {
  EXPECT_EQ(runtime.sleep_for(UINT64_MAX).due_ns(), never_ns);
  EXPECT_EQ(runtime.after(never_ns), never_ns);
}

Task<bool> elapsed(Sleep& sleep) {
  co_return co_await sleep;
}

TEST_P(Loop, a_cancelled_sleep_ends_early_and_says_so) {
  Sleep sleep = runtime.sleep_for(never_ns);
  Task<bool> task = elapsed(sleep);
  sleep.cancel();
  sleep.cancel();
  EXPECT_FALSE(task.finished()) << "cancel runs no flow itself";
  EXPECT_FALSE(runtime.block_on(std::move(task)));
}

TEST_P(Loop, a_sleep_cancelled_before_the_await_does_not_suspend) {
  Sleep sleep = runtime.sleep_for(never_ns);
  sleep.cancel();
  Task<bool> task = elapsed(sleep);
  ASSERT_TRUE(task.finished());
  EXPECT_FALSE(task.take());
}

TEST_P(Loop, two_flows_at_one_sleep_end_the_program) {
  EXPECT_DEATH(
      {
        Sleep sleep = runtime.sleep_for(never_ns);
        Task<bool> first = elapsed(sleep);
        Task<bool> second = elapsed(sleep);
      },
      "two flows await one sleep");
}

TEST_P(Loop, a_cancel_after_the_time_does_nothing) {
  Sleep sleep = runtime.sleep_for(1);
  EXPECT_TRUE(runtime.block_on(elapsed(sleep)));
  sleep.cancel();
  runtime.block_on(yield_times(3));
}

class Ticking final : public Timer {
 public:
  explicit Ticking(Runtime& runtime) : runtime_(runtime) {}
  void expire() override {
    EXPECT_FALSE(armed());
    if (++ticks_ < 3) {
      runtime_.arm(*this, 0);
    }
  }
  int ticks() const { return ticks_; }

 private:
  Runtime& runtime_;
  int ticks_ = 0;
};

TEST_P(Loop, a_timer_may_arm_itself_anew_and_the_past_means_soon) {
  Ticking timer(runtime);
  runtime.arm(timer, never_ns);
  runtime.arm(timer, 0);
  EXPECT_TRUE(timer.armed());
  runtime.block_on(yield_times(100));
  runtime.run_for(step_ns);
  EXPECT_EQ(timer.ticks(), 3);
  EXPECT_FALSE(timer.armed());
}

TEST_P(Loop, a_disarmed_or_destroyed_timer_does_not_run) {
  Ticking timer(runtime);
  runtime.run_soon(timer);
  timer.disarm();
  timer.disarm();
  {
    Ticking destroyed(runtime);
    runtime.arm(destroyed, 0);
  }
  runtime.run_for(step_ns);
  EXPECT_EQ(timer.ticks(), 0);
}

TEST_P(Loop, run_for_lets_the_time_pass) {
  const std::uint64_t start = runtime.now_ns();
  runtime.spawn(sleep_then_note(start + step_ns, 1));
  EXPECT_EQ(runtime.run_for(2 * step_ns), RunState::finished);
  EXPECT_GE(runtime.now_ns(), start + 2 * step_ns);
  EXPECT_EQ(notes, std::vector<int>{1});
}

TEST_P(Loop, run_until_leaves_the_task_with_its_caller) {
  Task<void> task = yield_times(2);
  EXPECT_EQ(runtime.run_until(task), RunState::finished);
  EXPECT_EQ(runtime.run_until(task), RunState::finished);
  EXPECT_TRUE(task.finished());
}

Task<void> count_turns(Runtime& runtime, int& turns, int& others, int times) {
  for (int i = 0; i < times; ++i) {
    EXPECT_LE(turns - others, times);
    ++turns;
    co_await runtime.yield();
  }
}

TEST_P(Loop, yield_lets_others_run) {
  int a = 0;
  int b = 0;
  std::vector<Task<void>> tasks;
  tasks.push_back(count_turns(runtime, a, b, 5));
  EXPECT_EQ(a, 1) << "yield always suspends";
  tasks.push_back(count_turns(runtime, b, a, 5));
  runtime.block_on(when_all(std::move(tasks)));
  EXPECT_EQ(a, 5);
  EXPECT_EQ(b, 5);
}

TEST_P(Loop, a_spawned_task_is_kept_until_it_finishes) {
  runtime.spawn(yield_times(2));
  EXPECT_EQ(runtime.spawned(), 1U);
  for (int i = 0; i < 1000 && runtime.spawned() != 0; ++i) {
    runtime.run_for(step_ns);  // which is a single turn, if this process stands still
  }
  EXPECT_EQ(runtime.spawned(), 0U);
}

TEST_P(Loop, destroying_it_with_spawned_tasks_ends_the_program) {
  EXPECT_DEATH(
      {
        const std::unique_ptr<Runtime> loop = GetParam().make();
        const auto flow = [&]() -> Task<void> { co_await loop->yield(); };
        loop->spawn(flow());
      },
      "spawned tasks are unfinished");
}

TEST_P(Loop, running_it_from_inside_a_flow_ends_the_program) {
  const auto flow = [this]() -> Task<void> {
    co_await runtime.yield();
    runtime.turn();
  };
  EXPECT_DEATH(runtime.block_on(flow()), "from inside one of its flows");
}

TEST_P(Loop, a_watch_that_holds_at_the_start_does_not_suspend) {
  byte = std::byte{1};
  const auto flow = [this]() -> Task<bool> {
    co_return co_await runtime.watch(range(), byte_is_set());
  };
  Task<bool> task = flow();
  ASSERT_TRUE(task.finished());
  EXPECT_TRUE(task.take());
}

TEST_P(Loop, a_watch_goes_on_when_the_bytes_change) {
  const auto watcher = [this]() -> Task<bool> {
    const bool held = co_await runtime.watch(range(), byte_is_set());
    notes.push_back(2);
    co_return held;
  };
  const auto writer = [this]() -> Task<void> {
    co_await yield_times(5);
    notes.push_back(1);
    place();
  };
  Task<bool> task = watcher();
  EXPECT_FALSE(task.finished());
  runtime.spawn(writer());
  EXPECT_TRUE(runtime.block_on(std::move(task)));
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
}

TEST_P(Loop, a_watch_ends_at_its_deadline) {
  const auto flow = [this]() -> Task<bool> {
    co_return co_await runtime.watch(range(), byte_is_set(), runtime.after(step_ns));
  };
  EXPECT_FALSE(runtime.block_on(flow()));
  place();
  runtime.block_on(yield_times(3));
}

// The watch outlives its await in these two, so that what it forgot to take back would disturb the
// sleep that follows.
TEST_P(Loop, a_watch_that_holds_in_time_forgets_its_deadline) {
  const auto flow = [this]() -> Task<void> {
    auto watch = runtime.watch(range(), byte_is_set(), runtime.after(20 * step_ns));
    EXPECT_TRUE(co_await watch);
    const std::uint64_t due_ns = runtime.after(30 * step_ns);
    EXPECT_TRUE(co_await runtime.sleep_until(due_ns));
    EXPECT_GE(runtime.now_ns(), due_ns);
  };
  Task<void> task = flow();
  place();
  runtime.block_on(std::move(task));
}

TEST_P(Loop, a_watch_that_ended_is_not_asked_again) {
  const auto flow = [this]() -> Task<void> {
    auto watch = runtime.watch(range(), byte_is_set(), runtime.after(step_ns));
    EXPECT_FALSE(co_await watch);
    place();
    const std::uint64_t due_ns = runtime.after(5 * step_ns);
    EXPECT_TRUE(co_await runtime.sleep_until(due_ns));
    EXPECT_GE(runtime.now_ns(), due_ns);
  };
  runtime.block_on(flow());
}

TEST_P(Loop, an_empty_watch_ends_the_program) {
  EXPECT_DEATH(static_cast<void>(runtime.watch({}, byte_is_set())), "needs bytes");
}

TEST_P(Loop, a_semaphore_bounds_what_is_in_flight) {
  Semaphore semaphore(runtime, 2);
  int in_flight = 0;
  int most = 0;
  const auto worker = [&]() -> Task<void> {
    co_await semaphore.acquire();
    most = std::max(most, ++in_flight);
    co_await yield_times(3);
    --in_flight;
    semaphore.release();
  };
  std::vector<Task<void>> workers;
  for (int i = 0; i < 20; ++i) {
    workers.push_back(worker());
  }
  runtime.block_on(when_all(std::move(workers)));
  EXPECT_EQ(most, 2);
  EXPECT_EQ(semaphore.available(), 2U);
}

class CountDown final : public Poller {
 public:
  CountDown(Runtime& runtime, int from) : left_(from), reached_(runtime) {}
  bool poll() override {
    if (left_ == 0) {
      return false;
    }
    if (--left_ == 0) {
      reached_.set();
    }
    return true;
  }
  Task<void> reached() { co_await reached_; }
  bool is_reached() const { return reached_.is_set(); }

 private:
  int left_;
  Event reached_;
};

TEST_P(Loop, asks_its_pollers_until_they_are_removed) {
  CountDown poller(runtime, 10);
  runtime.add_poller(poller);
  runtime.block_on(poller.reached());
  runtime.remove_poller(poller);
  CountDown removed(runtime, 1);
  runtime.add_poller(removed);
  runtime.remove_poller(removed);
  runtime.block_on(yield_times(3));
  EXPECT_FALSE(removed.is_reached());
}

TEST_P(Loop, cpu_time_lets_the_flow_go_on) {
  const auto flow = [this]() -> Task<void> {
    co_await runtime.cpu(0, step_ns);
    co_await runtime.cpu(1, 0);
  };
  runtime.block_on(flow());
}

TEST_P(Loop, chance_and_trace_are_there) {
  runtime.trace("some-fact", runtime.random().next());
  EXPECT_LT(runtime.random().below(10), 10U);
}

}  // namespace
}  // namespace remora
