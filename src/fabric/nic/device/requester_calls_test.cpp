// What a requester does where every call of the wire has its price.
#include <gtest/gtest.h>

#include "fabric/nic/device/testing/two_nics.h"

namespace remora::fabric::nic {
namespace {

TEST(RequesterCalls, tells_the_wire_when_its_peer_has_enough_to_do) {
  TwoNics nics({.gathers = true});
  const Sge piece = nics.a.piece(0, 4 * 1024);
  nics.a.wire.hold();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
    EXPECT_EQ(nics.a.wire.times_taken(), 0U) << "it waits for these";
  }
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  EXPECT_EQ(nics.a.wire.times_taken(), 1U);
  nics.a.wire.release();
  nics.run();
  EXPECT_EQ(nics.a.sent().size(), 3U);
  const std::uint64_t before = nics.a.wire.times_taken();
  ASSERT_TRUE(nics.a.send(write_work(nics.b, piece, 0)).ok());
  EXPECT_EQ(nics.a.wire.times_taken(), before) << "all that it had is done";
}

// Each of two packets; the second one's piece may be used by nobody when it is to fail.
std::vector<SendWork> many_writes(TwoNics& nics, std::vector<Sge>& pieces, bool second_fails) {
  constexpr std::size_t count = 8;
  pieces.assign(count, nics.a.piece(0, 2048));
  pieces[1].key ^= second_fails ? 1 : 0;
  std::vector<SendWork> works;
  for (std::size_t i = 0; i < count; ++i) {
    works.push_back(write_work(nics.b, pieces[i], 0, i));
  }
  return works;
}

TEST(RequesterCalls, leaves_the_asking_to_what_follows_where_answers_cost_a_call) {
  for (const bool gathers : {false, true}) {
    TwoNics nics({.window_packets = 8, .gathers = gathers});
    std::vector<Sge> pieces;
    nics.a.wire.hold();
    ASSERT_TRUE(nics.a.qp->post_send(many_writes(nics, pieces, false)).ok());
    ASSERT_EQ(nics.a.wire.held(), 8U);
    std::vector<bool> asks;
    for (std::size_t i = 0; i < 8; ++i) {
      asks.push_back(nics.a.wire.peek_held(i).acknowledge_request);
    }
    const std::vector<bool> seldom = {false, false, false, true, false, false, false, true};
    const std::vector<bool> always = {false, true, false, true, false, true, false, true};
    EXPECT_EQ(asks, gathers ? seldom : always);
    nics.a.wire.release();
    nics.run();
    EXPECT_EQ(nics.a.sent().size(), 8U);
    EXPECT_EQ(nics.a.nic.counters().retransmissions, 0U);
  }
}

// What it fails behind has not asked for an acknowledgement, and has to be complete before.
TEST(RequesterCalls, fails_behind_what_left_the_asking_to_it) {
  TwoNics nics({.window_packets = 8, .gathers = true});
  std::vector<Sge> pieces;
  ASSERT_TRUE(nics.a.qp->post_send(many_writes(nics, pieces, true)).ok());
  nics.run(50'000);  // not until it is sent again for want of an answer
  const std::vector<WorkCompletion> sent = nics.a.sent();
  ASSERT_EQ(sent.size(), 8U);
  EXPECT_EQ(sent[0].status, WorkStatus::success);
  EXPECT_EQ(sent[1].status, WorkStatus::local_protection_error);
  EXPECT_EQ(sent[2].status, WorkStatus::flushed);
}

}  // namespace
}  // namespace remora::fabric::nic
