// S1 to S4: receives that several queue pairs share.
#include <set>

#include "tests/fabric/contract.h"

namespace remora::fabric::contract {
namespace {

PairOptions sharing(Transport transport = Transport::rc) {
  PairOptions options;
  options.transport = transport;
  options.shares = true;
  return options;
}

SENTENCE(S1, messages_of_all_queue_pairs_take_receives_in_their_order) {
  Pair pair(world, sharing());
  const Pair::Another other = pair.another();
  for (std::uint64_t i = 0; i < 6; ++i) {
    pair.post_receive(i, i * 8192, 8192);
  }
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::size_t size = 100 + i * 1000;
    QueuePair& from = i % 3 == 1 ? *other.near : *pair.near.qp;
    const QueuePair& to = i % 3 == 1 ? *other.far : *pair.far.qp;
    pair.fill_near(0, size, i);
    Pair::post(from, pair.send(i, 0, size));
    pair.wait_receives(i + 1);
    pair.wait_sends(i + 1);
    ASSERT_EQ(pair.far.receives.size(), i + 1);
    EXPECT_EQ(pair.far.receives[i].id, i);
    EXPECT_EQ(pair.far.receives[i].qp, to.number());
    EXPECT_EQ(pair.far.receives[i].size_bytes, size);
    EXPECT_TRUE(pair.buffer_holds(i * 8192, Pair::pattern(size, i)));
  }
  EXPECT_TRUE(all_succeeded(pair.near.sends));
}

// Their packets may come between each other's.
SENTENCE(S1, messages_under_way_at_once_have_a_receive_each) {
  Pair pair(world, sharing());
  const Pair::Another other = pair.another();
  constexpr std::size_t size = 20'000;
  pair.fill_near(0, size, 1);
  pair.fill_near(32'768, size, 2);
  for (std::uint64_t i = 0; i < 4; ++i) {
    pair.post_receive(i, i * 32'768, 32'768);
  }
  Pair::post(*pair.near.qp, pair.send(1, 0, size));
  Pair::post(*other.near, pair.send(2, 32'768, size));
  pair.wait_receives(2);
  ASSERT_EQ(pair.far.receives.size(), 2u);
  std::set<std::uint64_t> taken;
  for (const WorkCompletion& received : pair.far.receives) {
    const bool is_first = received.qp == pair.far.qp->number();
    taken.insert(received.id);
    EXPECT_EQ(received.size_bytes, size);
    EXPECT_TRUE(pair.buffer_holds(received.id * 32'768, Pair::pattern(size, is_first ? 1 : 2)));
  }
  EXPECT_EQ(taken, (std::set<std::uint64_t>{0, 1}));
}

SENTENCE(S1, what_is_unreliable_takes_them_too) {
  for (const Transport transport : {Transport::uc, Transport::ud}) {
    Pair pair(world, sharing(transport));
    for (std::uint64_t i = 0; i < 3; ++i) {
      pair.post_receive(i, i * 1024, 1024);
      ASSERT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.message(id, 0, 100); },
                                 [&] { return pair.far.receives.size() > i; }));
      EXPECT_EQ(pair.far.receives[i].id, i);
      EXPECT_EQ(pair.far.receives[i].status, WorkStatus::success);
    }
  }
}

SENTENCE(S2, an_empty_queue_makes_a_reliable_sender_wait) {
  PairOptions options = sharing();
  options.near = options.far = world.connect_options();
  options.near->rnr_retry = 2;
  options.far->rnr_delay_ns = 100'000;
  Pair pair(world, options);
  pair.post_receive(1, 0, 64);
  EXPECT_EQ(pair.status_of(pair.send(1, 0, 8)), WorkStatus::success);
  EXPECT_EQ(pair.status_of(pair.send(2, 0, 8)), WorkStatus::rnr_retry_exceeded);
}

SENTENCE(S2, an_empty_queue_loses_what_is_unreliable) {
  Pair pair(world, sharing(Transport::uc));
  SendWork lost = pair.send(1, 0, 32);
  lost.opcode = Opcode::send_imm;
  lost.immediate = 1;
  EXPECT_EQ(pair.status_of(lost), WorkStatus::success);
  std::uint64_t last = 0;
  ASSERT_TRUE(pair.try_until(
      [&](std::uint64_t id) {
        store(pair.near_at(0), last = id);
        return pair.write(id, 0, 0, word_bytes);
      },
      [&] { return pair.far_word(0) == last; }));
  pair.post_receive(7, 0, 64);
  ASSERT_TRUE(pair.try_until([&](std::uint64_t id) { return pair.send(id, 0, 32); },
                             [&] { return !pair.far.receives.empty(); }));
  EXPECT_FALSE(pair.far.receives[0].has_immediate);
}

SENTENCE(S3, that_few_are_left_is_told_once) {
  Pair pair(world, sharing());
  for (std::uint64_t i = 0; i < 4; ++i) {
    pair.post_receive(i, i * 64, 64);
  }
  ASSERT_TRUE(pair.far.shared->arm_limit(2).ok());
  const auto send_one = [&](std::uint64_t id) {
    EXPECT_EQ(pair.status_of(pair.send(id, 0, 8)), WorkStatus::success);
    pair.wait_receives(id);
  };
  send_one(1);
  send_one(2);
  EXPECT_EQ(pair.far.shared->limit_events(), 0u) << "two are left, which is not fewer than two";
  send_one(3);
  EXPECT_TRUE(world.run_until([&] { return pair.far.shared->limit_events() == 1; }));
  send_one(4);
  EXPECT_FALSE(pair.holds_soon([&] { return pair.far.shared->limit_events() != 1; }));
  pair.post_receive(5, 0, 64);
  ASSERT_TRUE(pair.far.shared->arm_limit(1).ok());
  send_one(5);
  EXPECT_TRUE(world.run_until([&] { return pair.far.shared->limit_events() == 2; }));
}

SENTENCE(S4, a_queue_pair_in_error_leaves_the_rest_to_the_others) {
  Pair pair(world, sharing());
  const Pair::Another other = pair.another();
  for (std::uint64_t i = 0; i < 3; ++i) {
    pair.post_receive(i, i * 64, 64);
  }
  const Sge piece = pair.far.buffers->piece(0, 64);
  const ReceiveWork receive{.id = 9, .pieces = std::span(&piece, 1)};
  EXPECT_EQ(pair.far.qp->post_receive(std::span(&receive, 1)).code(), Code::invalid_argument);
  EXPECT_EQ(pair.status_of(pair.send(1, 0, 8)), WorkStatus::success);
  pair.wait_receives(1);
  pair.far.qp->fail();
  for (std::uint64_t i = 0; i < 2; ++i) {
    const std::size_t before = pair.near.sends.size();
    Pair::post(*other.near, pair.send(2 + i, 0, 8));
    pair.wait_sends(before + 1);
  }
  pair.wait_receives(3);
  EXPECT_EQ(ids_of(pair.far.receives), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_TRUE(all_succeeded(pair.far.receives));
}

}  // namespace
}  // namespace remora::fabric::contract
