#include "runtime/task.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime_testing.h"
#include "runtime/virtual_loop.h"

namespace remora {
namespace {

Task<int> later(Runtime& runtime, int value) {
  co_await runtime.yield();
  co_return value;
}

TEST(Task, starts_in_the_call_that_makes_it) {
  VirtualLoop loop;
  bool started = false;
  const auto flow = [&]() -> Task<void> {
    started = true;
    co_await loop.yield();
  };
  Task<void> task = flow();
  EXPECT_TRUE(started);
  EXPECT_TRUE(task.valid());
  EXPECT_FALSE(task.finished());
  loop.block_on(std::move(task));
}

TEST(Task, gives_its_result_to_who_awaits) {
  VirtualLoop loop;
  const auto sum = [&]() -> Task<int> {
    const int a = co_await immediate(1);
    const int b = co_await later(loop, 2);
    co_return a + b;
  };
  EXPECT_EQ(loop.block_on(sum()), 3);
}

TEST(Task, a_finished_task_does_not_suspend_its_awaiter) {
  const auto flow = []() -> Task<int> {
    Task<int> inner = immediate(7);
    co_return co_await inner;
  };
  Task<int> task = flow();
  ASSERT_TRUE(task.finished());
  EXPECT_EQ(task.take(), 7);
}

TEST(Task, carries_what_can_only_be_moved) {
  const auto flow = []() -> Task<std::unique_ptr<std::string>> {
    co_return std::make_unique<std::string>("moved");
  };
  Task<std::unique_ptr<std::string>> task = flow();
  EXPECT_EQ(*task.take(), "moved");
}

TEST(Task, converts_what_is_returned) {
  const auto flow = [](bool empty) -> Task<std::string> {
    if (empty) {
      co_return {};
    }
    co_return "text";
  };
  EXPECT_EQ(flow(false).take(), "text");
  EXPECT_EQ(flow(true).take(), "");
}

TEST(Task, tasks_run_side_by_side_until_awaited) {
  VirtualLoop loop;
  const auto flow = [&]() -> Task<void> {
    Task<void> a = nap(loop, 100);
    Task<void> b = nap(loop, 70);
    co_await b;
    EXPECT_EQ(loop.now_ns(), 70U);
    co_await a;
    EXPECT_EQ(loop.now_ns(), 100U);
  };
  loop.block_on(flow());
}

TEST(Task, wait_leaves_the_result) {
  VirtualLoop loop;
  const auto flow = [&]() -> Task<int> {
    Task<int> inner = later(loop, 4);
    co_await inner.wait();
    co_return inner.take() + 1;
  };
  EXPECT_EQ(loop.block_on(flow()), 5);
}

TEST(Task, an_empty_one_may_be_assigned_to) {
  Task<int> task;
  EXPECT_FALSE(task.valid());
  EXPECT_FALSE(task.finished());
  task = immediate(1);
  EXPECT_TRUE(task.finished());
  Task<int> other = std::move(task);
  EXPECT_FALSE(task.valid());
  EXPECT_EQ(other.take(), 1);
}

// How far the stack reached in the calls of reach().
class StackProbe {
 public:
  void reach() {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    lowest_ = std::min(lowest_, here);
    highest_ = std::max(highest_, here);
  }
  std::uintptr_t spread() const { return highest_ - lowest_; }

 private:
  std::uintptr_t lowest_ = UINTPTR_MAX;
  std::uintptr_t highest_ = 0;
};

constexpr int many = 1'000'000;
constexpr std::uintptr_t few_frames_bytes = 16384;

TEST(Task, a_million_awaits_of_finished_tasks_do_not_grow_the_stack) {
  StackProbe probe;
  const auto flow = [&]() -> Task<std::uint64_t> {
    std::uint64_t sum = 0;
    for (int i = 0; i < many; ++i) {
      sum += static_cast<std::uint64_t>(co_await immediate(1));
      probe.reach();
    }
    co_return sum;
  };
  EXPECT_EQ(flow().take(), static_cast<std::uint64_t>(many));
  EXPECT_LT(probe.spread(), few_frames_bytes);
}

TEST(Task, a_million_awaits_through_the_loop_do_not_grow_the_stack) {
  VirtualLoop loop;
  StackProbe probe;
  const auto flow = [&]() -> Task<std::uint64_t> {
    std::uint64_t sum = 0;
    for (int i = 0; i < many; ++i) {
      sum += static_cast<std::uint64_t>(co_await later(loop, 1));
      probe.reach();
    }
    co_return sum;
  };
  EXPECT_EQ(loop.block_on(flow()), static_cast<std::uint64_t>(many));
  EXPECT_LT(probe.spread(), few_frames_bytes);
}

Task<int> nested(Runtime& runtime, int depth) {
  if (depth == 0) {
    co_return co_await later(runtime, 0);
  }
  co_return 1 + co_await nested(runtime, depth - 1);
}

TEST(Task, a_chain_of_awaits_unwinds) {
  VirtualLoop loop;
  EXPECT_EQ(loop.block_on(nested(loop, 1000)), 1000);
}

TEST(Task, destroying_an_unfinished_task_ends_the_program) {
  VirtualLoop loop;
  EXPECT_DEATH({ Task<void> task = nap(loop, 1); }, "destroyed before it finished");
  EXPECT_DEATH(
      {
        Task<void> task = nap(loop, 1);
        task = Task<void>();
      },
      "destroyed before it finished");
}

TEST(Task, may_be_destroyed_unfinished_within_an_abandon_scope) {
  VirtualLoop loop;
  Task<int> task = nested(loop, 3);
  EXPECT_FALSE(AbandonScope::active());
  {
    const AbandonScope outer;
    { const AbandonScope inner; }
    EXPECT_TRUE(AbandonScope::active());
    task = Task<int>();
  }
  EXPECT_FALSE(AbandonScope::active());
  EXPECT_EQ(loop.step(), RunState::stalled);
}

TEST(Task, misuse_ends_the_program) {
  VirtualLoop loop;
  EXPECT_DEATH(static_cast<void>(later(loop, 1).take()), "has not finished");
  EXPECT_DEATH(
      {
        Task<int> task = immediate(1);
        static_cast<void>(task.take());
        static_cast<void>(task.take());
      },
      "taken once");
  const auto await_twice = [](Task<int>& task) -> Task<void> { co_await task.wait(); };
  EXPECT_DEATH(
      {
        Task<int> task = later(loop, 1);
        Task<void> first = await_twice(task);
        Task<void> second = await_twice(task);
      },
      "two flows await one task");
  EXPECT_DEATH(
      {
        Task<int> task;
        static_cast<void>(await_twice(task));
      },
      "holds none");
}

TEST(Task, an_exception_ends_the_program) {
  const auto flow = []() -> Task<void> {
    throw 1;
    co_return;
  };
  EXPECT_DEATH(static_cast<void>(flow()), "");
}

}  // namespace
}  // namespace remora
