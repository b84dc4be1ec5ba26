// An actor that works on another node's memory stops or dies in the middle of a copy. What it may
// have been writing is used anew only when it cannot write there any more; without that rule, bytes
// of somebody else are overwritten.
#include "lab/world/mapped_actor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lab/world/test_rig.h"

namespace remora::lab {
namespace {

using fabric::Opcode;
using fabric::WorkStatus;

constexpr std::size_t copy_bytes = 8192;
constexpr std::byte anew{0xee};

struct HostRig {
  HostRig(std::uint64_t seed, bool epochs)
      : rig(seed, {}, &host,
            ActorOptions{.largest_piece_bytes = 256, .stops_one_in = 0, .epochs = epochs}) {}

  // The client is stopped when some bytes of its WRITE are in place, and others are not.
  void stop_in_the_middle() {
    rig.mark(copy_bytes);
    const fabric::SendWork work = rig.to_server(Opcode::write, copy_bytes);
    ASSERT_TRUE(rig.near->qp().post_send(std::span(&work, 1)).ok());
    while (!rig.server_has(1)) {
      ASSERT_EQ(rig.loop.step(), RunState::running);
    }
    ASSERT_FALSE(rig.server_has(copy_bytes));
    rig.client.actor().stop();
    EXPECT_TRUE(rig.client.actor().is_inside());
  }
  void use_anew() { std::ranges::fill(space(), anew); }
  bool is_untouched() {
    return std::ranges::all_of(space(), [](std::byte byte) { return byte == anew; });
  }
  Bytes space() { return rig.server.memory().bytes().subspan(64, copy_bytes); }

  MappedHost host;
  Rig rig;
};

TEST(MappedActor, works_on_the_memory_with_no_packet) {
  MappedHost host;
  Rig rig(1, {}, &host);
  rig.mark(5000);
  EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 5000)), WorkStatus::success);
  EXPECT_TRUE(rig.server_has(5000));
  EXPECT_EQ(rig.finish(rig.flush_of(5000)), WorkStatus::success);
  EXPECT_EQ(rig.client.nic().counters().packets_sent, 0u);
  EXPECT_EQ(rig.client.nic().counters().requests_short_cut, 2u);
  rig.server.cut_power();
  rig.server.power_on();
  EXPECT_TRUE(rig.server_has(5000));
}

TEST(MappedActor, the_same_seed_gives_the_same_run) {
  const auto hash_of = [](std::uint64_t seed) {
    MappedHost host;
    Rig rig(seed, {}, &host);
    rig.mark(9000);
    EXPECT_EQ(rig.finish(rig.to_server(Opcode::write, 9000)), WorkStatus::success);
    return rig.loop.now_ns();
  };
  EXPECT_EQ(hash_of(5), hash_of(5));
  EXPECT_NE(hash_of(5), hash_of(6));
}

TEST(MappedActor, space_is_used_anew_when_a_stopped_writer_has_come_out) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    HostRig host(seed, true);
    host.stop_in_the_middle();
    host.rig.far->qp().fail();
    EXPECT_FALSE(host.rig.far->qp().quiet());
    host.rig.loop.run_for(10'000'000);
    EXPECT_FALSE(host.rig.far->qp().quiet()) << "time alone frees nothing";
    host.rig.client.actor().resume();
    while (!host.rig.far->qp().quiet()) {
      ASSERT_EQ(host.rig.loop.step(), RunState::running);
    }
    host.use_anew();
    host.rig.loop.run_for(10'000'000);
    EXPECT_TRUE(host.is_untouched()) << seed;
    EXPECT_EQ(host.rig.next(host.rig.near->sends()).status, WorkStatus::success);
    EXPECT_NE(host.rig.finish(host.rig.to_server(Opcode::write, 64)), WorkStatus::success)
        << "its rights are gone";
    EXPECT_TRUE(host.is_untouched()) << seed;
  }
}

TEST(MappedActor, space_is_used_anew_when_a_stopped_writer_has_died) {
  HostRig host(3, true);
  host.stop_in_the_middle();
  host.rig.far->qp().fail();
  EXPECT_FALSE(host.rig.far->qp().quiet());
  host.rig.client.actor().die();
  EXPECT_TRUE(host.rig.far->qp().quiet());
  host.use_anew();
  host.rig.client.actor().resume();
  host.rig.loop.run_for(10'000'000);
  EXPECT_TRUE(host.is_untouched());
}

TEST(MappedActor, a_region_that_goes_ends_whoever_stands_still_in_it) {
  HostRig host(4, true);
  host.stop_in_the_middle();
  host.rig.far->forget_memory();
  host.use_anew();
  host.rig.client.actor().resume();
  host.rig.loop.run_for(10'000'000);
  EXPECT_TRUE(host.is_untouched());
}

// What its program hears is what it would hear by packets: the request that was under way failed,
// and those behind it were never tried.
TEST(MappedActor, a_link_that_goes_down_fails_the_request_that_is_under_way) {
  HostRig host(6, true);
  host.stop_in_the_middle();
  fabric::SendWork behind = host.rig.to_server(Opcode::write, 64);
  behind.id = 2;
  ASSERT_TRUE(host.rig.near->qp().post_send(std::span(&behind, 1)).ok());
  host.rig.network.node(host.rig.client.id()).cut_off(host.rig.server.id());
  const fabric::WorkCompletion first = host.rig.next(host.rig.near->sends());
  EXPECT_EQ(first.id, 0u);
  EXPECT_EQ(first.status, WorkStatus::retry_exceeded);
  const fabric::WorkCompletion second = host.rig.next(host.rig.near->sends());
  EXPECT_EQ(second.id, 2u);
  EXPECT_EQ(second.status, WorkStatus::flushed);
}

// The planted mistake: nobody looks at the epoch. It must show.
TEST(MappedActor, without_the_epoch_reused_space_is_overwritten) {
  for (const bool whole_region : {false, true}) {
    HostRig host(5, false);
    host.stop_in_the_middle();
    host.rig.far->qp().fail();
    if (whole_region) {
      host.rig.far->forget_memory();
    }
    ASSERT_TRUE(host.rig.far->qp().quiet()) << "the mistake";
    host.use_anew();
    host.rig.client.actor().resume();
    host.rig.loop.run_for(10'000'000);
    EXPECT_FALSE(host.is_untouched());
  }
}

}  // namespace
}  // namespace remora::lab
