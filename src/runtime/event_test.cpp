#include "runtime/event.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/runtime_testing.h"
#include "runtime/virtual_loop.h"

namespace remora {
namespace {

TEST(Event, set_resumes_the_flow_in_its_turn) {
  VirtualLoop loop;
  Event event(loop);
  Task<void> task = wait_for(event);
  EXPECT_FALSE(event.is_set());
  event.set();
  EXPECT_TRUE(event.is_set());
  EXPECT_FALSE(task.finished());
  loop.step();
  EXPECT_TRUE(task.finished());
}

TEST(Event, one_that_happened_does_not_suspend) {
  VirtualLoop loop;
  Event event(loop);
  event.set();
  EXPECT_TRUE(wait_for(event).finished());
}

TEST(Event, misuse_ends_the_program) {
  VirtualLoop loop;
  EXPECT_DEATH(
      {
        Event event(loop);
        event.set();
        event.set();
      },
      "happens once");
  EXPECT_DEATH(
      {
        Event event(loop);
        Task<void> first = wait_for(event);
        Task<void> second = wait_for(event);
      },
      "two flows await one event");
  EXPECT_DEATH(
      {
        auto event = std::make_unique<Event>(loop);
        Task<void> task = wait_for(*event);
        event.reset();
      },
      "while a flow waits");
}

TEST(Event, may_go_before_its_flow_in_a_power_cut) {
  VirtualLoop loop;
  auto event = std::make_unique<Event>(loop);
  Task<void> task = wait_for(*event);
  const AbandonScope scope;
  event.reset();
  task = Task<void>();
}

Task<std::unique_ptr<int>> value_of(Completion<std::unique_ptr<int>>& completion) {
  co_return co_await completion;
}

TEST(Completion, brings_its_value) {
  VirtualLoop loop;
  Completion<std::unique_ptr<int>> completion(loop);
  Task<std::unique_ptr<int>> task = value_of(completion);
  EXPECT_FALSE(completion.is_set());
  completion.set(std::make_unique<int>(3));
  EXPECT_TRUE(completion.is_set());
  EXPECT_EQ(*loop.block_on(std::move(task)), 3);
}

TEST(Completion, one_that_happened_does_not_suspend) {
  VirtualLoop loop;
  Completion<std::unique_ptr<int>> completion(loop);
  completion.set(std::make_unique<int>(4));
  Task<std::unique_ptr<int>> task = value_of(completion);
  ASSERT_TRUE(task.finished());
  EXPECT_EQ(*task.take(), 4);
}

TEST(Completion, misuse_ends_the_program) {
  VirtualLoop loop;
  EXPECT_DEATH(
      {
        Completion<int> completion(loop);
        completion.set(1);
        completion.set(2);
      },
      "happens once");
  EXPECT_DEATH(
      {
        Completion<std::unique_ptr<int>> completion(loop);
        completion.set(nullptr);
        static_cast<void>(value_of(completion));
        static_cast<void>(value_of(completion));
      },
      "taken once");
}

}  // namespace
}  // namespace remora
