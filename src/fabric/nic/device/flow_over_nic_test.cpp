// Flows over the contract, with the software RNIC behind it.
#include <gtest/gtest.h>

#include "fabric/flow.h"
#include "fabric/nic/device/testing/two_nics.h"
#include "runtime/when_all.h"

namespace remora::fabric::nic {
namespace {

struct FlowWorld : TwoNics {
  using TwoNics::TwoNics;
  FlowQueue here{loop, *a.sends};
  FlowQueue there{loop, *b.receives};
};

Task<void> every_verb(FlowWorld& world) {
  Side& a = world.a;
  Side& b = world.b;
  FlowQueue& flows = world.here;
  a.fill(0, 64, 1);
  EXPECT_EQ((co_await flows.write(*a.qp, a.piece(0, 64), b.remote(0))).status, WorkStatus::success);
  const WorkCompletion read = co_await flows.read(*a.qp, a.piece(64, 64), b.remote(0));
  EXPECT_EQ(read.size_bytes, 64U);
  EXPECT_TRUE(std::ranges::equal(a.at(0, 64), a.at(64, 64)));
  EXPECT_EQ((co_await flows.atomic_write(*a.qp, b.remote(0), 5)).status, WorkStatus::success);
  EXPECT_EQ((co_await flows.fetch_add(*a.qp, a.piece(128, 8), b.remote(0), 2)).status,
            WorkStatus::success);
  EXPECT_EQ(a.word(128), 5U);
  EXPECT_EQ((co_await flows.compare_swap(*a.qp, a.piece(128, 8), b.remote(0), 7, 9)).status,
            WorkStatus::success);
  EXPECT_EQ(a.word(128), 7U);
  EXPECT_EQ(b.word(0), 9U);
  EXPECT_EQ((co_await flows.flush(*a.qp, b.remote(0), 8, FlushPlacement::visibility)).status,
            WorkStatus::success);
  EXPECT_EQ((co_await flows.send(*a.qp, a.piece(0, 10))).status, WorkStatus::success);
  EXPECT_EQ((co_await flows.write_imm(*a.qp, a.piece(0, 10), b.remote(32), 3)).status,
            WorkStatus::success);
}

Task<void> take_two(FlowWorld& world) {
  const WorkCompletion message = co_await world.there.receive(*world.b.qp, world.b.piece(512, 64));
  EXPECT_EQ(message.size_bytes, 10U);
  const WorkCompletion imm = co_await world.there.receive(*world.b.qp, std::span<const Sge>());
  EXPECT_EQ(imm.immediate, 3U);
}

TEST(Flow, every_verb_returns_its_completion) {
  FlowWorld world;
  Task<void> taker = take_two(world);
  world.loop.block_on(every_verb(world));
  world.loop.block_on(std::move(taker));
}

TEST(Flow, many_flows_share_one_queue) {
  FlowWorld world;
  const auto add = [](FlowWorld& in, std::size_t slot) -> Task<void> {
    for (int i = 0; i < 20; ++i) {
      const auto added =
          co_await in.here.fetch_add(*in.a.qp, in.a.piece(slot * 8, 8), in.b.remote(0), 1);
      EXPECT_EQ(added.status, WorkStatus::success);
    }
  };
  std::vector<Task<void>> flows;
  for (std::size_t slot = 0; slot < 16; ++slot) {
    flows.push_back(add(world, slot));
  }
  world.loop.block_on(when_all(std::move(flows)));
  EXPECT_EQ(world.b.word(0), 320U);
}

TEST(Flow, a_batch_is_vouched_for_by_its_last_request) {
  FlowWorld world;
  world.a.fill(0, 16, 1);
  const auto flow = [](FlowWorld& in) -> Task<void> {
    const Sge piece = in.a.piece(0, 16);
    std::array<SendWork, 3> works;
    for (std::size_t i = 0; i < works.size(); ++i) {
      works[i] = {
          .opcode = Opcode::write, .pieces = std::span(&piece, 1), .remote = in.b.remote(i * 16)};
    }
    EXPECT_EQ((co_await in.here.post_all(*in.a.qp, works)).status, WorkStatus::success);
    works[0].remote.key ^= 1 << 20;
    EXPECT_EQ((co_await in.here.post_all(*in.a.qp, works)).status, WorkStatus::flushed);
  };
  world.loop.block_on(flow(world));
  EXPECT_TRUE(std::ranges::equal(world.a.at(0, 16), world.b.at(32, 16)));
}

TEST(Flow, does_not_suspend_on_what_has_completed) {
  FlowWorld world;
  world.a.qp->fail();
  const auto flow = [](FlowWorld& in) -> Task<WorkStatus> {
    co_return (co_await in.here.write(*in.a.qp, in.a.piece(0, 8), in.b.remote(0))).status;
  };
  Task<WorkStatus> task = flow(world);
  ASSERT_TRUE(task.finished());
  EXPECT_EQ(task.take(), WorkStatus::flushed);
}

TEST(Flow, lets_the_loop_have_its_turn_where_all_completes_at_once) {
  FlowWorld world;
  world.a.qp->fail();
  int done = 0;
  const auto flow = [&](FlowWorld& in) -> Task<void> {
    for (; done < 1000; ++done) {
      (void)co_await in.here.write(*in.a.qp, in.a.piece(0, 8), in.b.remote(0));
    }
  };
  Task<void> task = flow(world);
  EXPECT_FALSE(task.finished());
  EXPECT_GT(done, 10);
  int turns = 0;
  while (!task.finished() && turns < 1000) {
    world.loop.step();
    ++turns;
  }
  EXPECT_TRUE(task.finished());
  EXPECT_GE(turns, 10);
}

TEST(Flow, tells_what_could_not_be_posted) {
  FlowWorld world;
  world.a.qp->reset();
  const auto flow = [](FlowWorld& in) -> Task<WorkStatus> {
    co_return (co_await in.here.write(*in.a.qp, in.a.piece(0, 8), in.b.remote(0))).status;
  };
  EXPECT_EQ(world.loop.block_on(flow(world)), WorkStatus::local_qp_operation_error);
}

TEST(Flow, is_cancelled_by_failing_the_queue_pair) {
  FlowWorld world;
  const auto flow = [](FlowWorld& in) -> Task<WorkStatus> {
    co_return (co_await in.there.receive(*in.b.qp, in.b.piece(0, 8))).status;
  };
  Task<WorkStatus> task = flow(world);
  world.run(1000);
  EXPECT_FALSE(task.finished());
  world.b.qp->fail();
  EXPECT_EQ(world.loop.block_on(std::move(task)), WorkStatus::flushed);
}

}  // namespace
}  // namespace remora::fabric::nic
