#include "lab/world/node.h"

#include <gtest/gtest.h>

#include "lab/world/test_rig.h"

namespace remora::lab {
namespace {

using fabric::Opcode;
using fabric::WorkStatus;

TEST(Node, peers_of_a_dead_node_time_out) {
  Rig rig(1);
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 64)), WorkStatus::success);
  rig.server.cut_power();
  EXPECT_FALSE(rig.server.powered());
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 64)), WorkStatus::retry_exceeded);
}

TEST(Node, comes_back_with_what_was_persistent) {
  Rig rig(2);
  rig.mark(500);
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 500)), WorkStatus::success);
  EXPECT_EQ(rig.finish(rig.flush_of(500)), WorkStatus::success);
  rig.server.cut_power();
  rig.server.power_on();
  EXPECT_TRUE(rig.server_has(500));
  rig.connect();
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::read, 500)), WorkStatus::success);
}

TEST(Node, packets_of_an_old_connection_do_nothing_to_a_new_life) {
  Rig rig(3);
  rig.server.cut_power();
  const fabric::SendWork work = rig.to_server(Opcode::write, 64);
  EXPECT_TRUE(rig.near->qp().post_send(std::span(&work, 1)).ok());
  rig.server.power_on();
  EXPECT_EQ(rig.next(rig.near->sends()).status, WorkStatus::retry_exceeded);
  EXPECT_FALSE(rig.server_has(1));
}

struct Note {
  explicit Note(bool& flag) : gone(flag) {}
  ~Note() { gone = true; }
  bool& gone;
};

TEST(Node, a_cut_ends_its_flows_and_programs_and_no_others) {
  Rig rig(4);
  bool program_gone = false;
  bool flow_gone = false;
  bool flow_went_on = false;
  bool other_went_on = false;
  rig.server.start<Note>(program_gone);
  const auto flow = [](VirtualLoop& loop, bool& gone, bool& went_on) -> Task<void> {
    const Note note(gone);
    co_await loop.sleep_for(1'000'000);
    went_on = true;
  };
  bool other_gone = false;
  rig.server.spawn(flow(rig.loop, flow_gone, flow_went_on));
  rig.client.spawn(flow(rig.loop, other_gone, other_went_on));
  rig.server.cut_power();
  EXPECT_TRUE(program_gone);
  EXPECT_TRUE(flow_gone);
  rig.loop.run_for(2'000'000);
  EXPECT_FALSE(flow_went_on);
  EXPECT_TRUE(other_went_on);
}

TEST(Node, destroying_what_ran_changes_no_persistent_byte) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Rig rig(seed);
    rig.mark(512);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 512)), WorkStatus::success);
    const std::vector<std::byte> image(rig.server.memory().durable().begin(),
                                       rig.server.memory().durable().end());
    rig.server.cut_power(image);
    EXPECT_TRUE(std::equal(image.begin(), image.end(), rig.server.memory().visible().begin()));
  }
}

std::uint64_t trace_of(std::uint64_t seed) {
  Rig rig(seed);
  rig.network.set_faults({.loss_ppm = 50'000, .duplicate_ppm = 50'000, .reorder_ppm = 50'000});
  rig.mark(4096);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 4096)), WorkStatus::success);
  }
  rig.server.cut_power();
  for (const std::byte byte : rig.server.memory().visible()) {
    rig.loop.trace("byte", static_cast<std::uint64_t>(byte));
  }
  return rig.loop.trace_hash();
}

TEST(Node, the_seed_decides_everything) {
  EXPECT_EQ(trace_of(7), trace_of(7));
  EXPECT_NE(trace_of(7), trace_of(8));
}

}  // namespace
}  // namespace remora::lab
