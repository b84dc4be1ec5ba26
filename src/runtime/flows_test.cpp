#include "runtime/flows.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "runtime/event.h"
#include "runtime/runtime_testing.h"
#include "runtime/virtual_loop.h"

namespace remora {
namespace {

Task<void> nothing() {
  co_return;
}

TEST(Flows, frees_a_finished_task_at_once) {
  Flows flows;
  flows.keep(nothing());
  EXPECT_EQ(flows.size(), 0U);
}

TEST(Flows, keeps_a_task_until_it_finishes) {
  VirtualLoop loop;
  Flows flows;
  Event event(loop);
  flows.keep(wait_for(event));
  EXPECT_EQ(flows.size(), 1U);
  event.set();
  loop.step();
  EXPECT_EQ(flows.size(), 0U);
}

struct NumberAtEnd {
  std::vector<int>& notes;
  int number;
  ~NumberAtEnd() { notes.push_back(number); }
};

Task<void> inner(Event& event, std::vector<int>& notes, int number) {
  const NumberAtEnd local{notes, number};
  co_await event;
  notes.push_back(-number);
}
Task<void> outer(Event& event, std::vector<int>& notes, int number) {
  co_await inner(event, notes, number);
  notes.push_back(-number);
}

TEST(Flows, abandon_destroys_locals_and_runs_no_flow) {
  VirtualLoop loop;
  std::vector<int> notes;
  Flows flows;
  Event one(loop);
  Event two(loop);
  flows.keep(outer(one, notes, 1));
  flows.keep(outer(two, notes, 2));
  one.set();
  flows.abandon();
  EXPECT_EQ(flows.size(), 0U);
  EXPECT_EQ(notes, (std::vector<int>{1, 2}));
  EXPECT_EQ(loop.step(), RunState::stalled) << "the flow that was ready left the loop";
}

TEST(Flows, misuse_ends_the_program) {
  VirtualLoop loop;
  Event event(loop);
  EXPECT_DEATH(
      {
        Flows flows;
        flows.keep(wait_for(event));
      },
      "spawned tasks are unfinished");
  Flows flows;
  EXPECT_DEATH(flows.keep(Task<void>()), "holds none");
}

}  // namespace
}  // namespace remora
