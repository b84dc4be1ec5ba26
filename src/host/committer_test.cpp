// The rules at the head of host/committer.h, one by one.
#include "host/committer.h"

#include <gtest/gtest.h>

#include <optional>

#include "host/commit_due.h"
#include "pmem/pmem_testing.h"
#include "runtime/virtual_loop.h"

namespace remora {
namespace {

constexpr std::uint64_t patience_ns = 1'000'000;

class Clients final : public Committer::Party {
 public:
  bool all_wait() override { return are_waiting; }

  bool are_waiting = false;
};

// Another thread's commits begin when a test says so.
class CommitterTest : public testing::Test {
 protected:
  CommitterTest() {
    pages_.tell_of_commits();
    listen();
  }
  void listen(Committer::Listens listens = Committer::Listens::yes) {
    committer_.emplace(loop_, pages_, listens);
  }
  // Pollers are asked after events, and flows resume with the next.
  void turn() { loop_.block_on(let_others_run(loop_)); }
  static Task<void> let_others_run(Runtime& runtime) {
    for (int i = 0; i < 4; ++i) {
      co_await runtime.yield();
    }
  }
  // So many replies wait at the end of a turn, for what was changed until now.
  bool wait_for_replies(Clients& clients, std::size_t waiting, std::size_t answered = 0) {
    const Ticket newest = pages_.drain();
    EXPECT_TRUE(committer_->expect(newest));
    return committer_->turn_ends(clients,
                                 {.answered = answered, .waiting = waiting, .newest = newest});
  }

  // So many have their reply, and none waits.
  void answer(Clients& clients, std::size_t answered) {
    EXPECT_FALSE(committer_->turn_ends(clients, {.answered = answered}));
  }

  VirtualLoop loop_;
  FakeRegion pages_{1 << 16, Granularity::page};
  Clients clients_;
  std::optional<Committer> committer_;
};

// --- W1, N1 ---

TEST_F(CommitterTest, asks_at_once_for_a_flow_that_waits) {
  Task<Status> flow = committer_->persistent(pages_.drain());
  EXPECT_EQ(pages_.requests(), 1u);
  turn();
  EXPECT_FALSE(flow.finished());
  pages_.commit();
  turn();
  ASSERT_TRUE(flow.finished());
  EXPECT_TRUE(flow.take().ok());
}

TEST_F(CommitterTest, asks_for_nothing_that_is_persistent) {
  const Ticket ticket = pages_.drain();
  pages_.commit();
  EXPECT_TRUE(loop_.block_on(committer_->persistent(ticket)).ok());
  EXPECT_TRUE(loop_.block_on(committer_->persistent_by(ticket, patience_ns)).ok());
  EXPECT_EQ(pages_.requests(), 0u);
}

TEST_F(CommitterTest, ends_every_wait_with_the_failure_of_the_region) {
  Task<Status> now = committer_->persistent(pages_.drain());
  Task<Status> later = committer_->persistent_by(pages_.drain(), patience_ns);
  pages_.fail();
  pages_.commit();
  turn();
  ASSERT_TRUE(now.finished() && later.finished());
  EXPECT_EQ(now.take().code(), Code::io_error);
  EXPECT_EQ(later.take().code(), Code::io_error);
}

// --- W2 ---

TEST_F(CommitterTest, lets_others_ask_for_what_is_needed_later) {
  Task<Status> later = committer_->persistent_by(pages_.drain(), patience_ns);
  EXPECT_EQ(pages_.requests(), 0u);
  Task<Status> now = committer_->persistent(pages_.drain());
  pages_.commit();
  turn();
  EXPECT_TRUE(later.finished() && now.finished());
  EXPECT_EQ(pages_.requests(), 1u);
}

TEST_F(CommitterTest, asks_when_nobody_has_until_it_is_needed) {
  pages_.commit_when_asked();
  Task<Status> later = committer_->persistent_by(pages_.drain(), patience_ns);
  (void)loop_.run_for(patience_ns - 1);
  EXPECT_EQ(pages_.requests(), 0u);
  (void)loop_.run_for(1);
  EXPECT_EQ(pages_.requests(), 1u);
  EXPECT_TRUE(later.finished());
}

TEST_F(CommitterTest, asks_for_what_is_needed_first_in_whatever_order_it_came) {
  pages_.commit_when_asked();
  Task<Status> patient = committer_->persistent_by(pages_.drain(), 10 * patience_ns);
  Task<Status> hasty = committer_->persistent_by(pages_.drain(), patience_ns);
  (void)loop_.run_for(patience_ns);
  EXPECT_TRUE(hasty.finished());
  EXPECT_TRUE(patient.finished());
  EXPECT_EQ(pages_.commits(), 1u);
}

// --- W3, T3 ---

TEST_F(CommitterTest, begins_a_commit_for_replies_at_the_end_of_their_turn) {
  committer_->join(clients_);
  EXPECT_TRUE(committer_->expect(pages_.drain()));
  EXPECT_EQ(pages_.requests(), 0u);
  EXPECT_TRUE(wait_for_replies(clients_, 2));
  EXPECT_EQ(pages_.requests(), 1u);
  EXPECT_TRUE(committer_->is_under_way());
  pages_.commit();
  EXPECT_FALSE(committer_->is_under_way());
}

TEST_F(CommitterTest, begins_none_for_replies_while_one_is_under_way) {
  committer_->join(clients_);
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  EXPECT_FALSE(wait_for_replies(clients_, 2));
  EXPECT_EQ(pages_.requests(), 1u);
}

TEST_F(CommitterTest, waits_a_while_for_clients_that_were_just_answered) {
  committer_->join(clients_);
  EXPECT_TRUE(wait_for_replies(clients_, 3));
  (void)loop_.run_for(100'000);
  pages_.commit();
  EXPECT_FALSE(wait_for_replies(clients_, 1, 3));
  EXPECT_TRUE(committer_->is_planned());
  (void)loop_.run_for(10'000);
  EXPECT_FALSE(wait_for_replies(clients_, 3));
  EXPECT_TRUE(wait_for_replies(clients_, 4));
}

TEST_F(CommitterTest, waits_no_longer_for_clients_that_do_not_come_back) {
  committer_->join(clients_);
  EXPECT_TRUE(wait_for_replies(clients_, 3));
  (void)loop_.run_for(100'000);
  pages_.commit();
  EXPECT_FALSE(wait_for_replies(clients_, 1, 3));
  (void)loop_.run_for(75'000);
  EXPECT_FALSE(committer_->is_planned());
  EXPECT_TRUE(wait_for_replies(clients_, 1));
}

TEST_F(CommitterTest, gathers_the_replies_of_several_parties) {
  Clients others;
  committer_->join(clients_);
  committer_->join(others);
  EXPECT_TRUE(wait_for_replies(clients_, 2));
  EXPECT_FALSE(wait_for_replies(others, 2));
  pages_.commit();
  answer(clients_, 2);
  EXPECT_FALSE(wait_for_replies(clients_, 1));
  EXPECT_FALSE(wait_for_replies(others, 2));
  EXPECT_TRUE(wait_for_replies(clients_, 2));
  EXPECT_EQ(pages_.requests(), 2u);
}

// --- T1, T2 ---

TEST_F(CommitterTest, the_loop_makes_a_commit_that_all_parties_wait_for) {
  Clients others;
  committer_->join(clients_);
  committer_->join(others);
  clients_.are_waiting = true;
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  EXPECT_EQ(pages_.blocked(), 0u);
  pages_.commit();
  answer(clients_, 1);
  others.are_waiting = true;
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  EXPECT_EQ(pages_.blocked(), 1u);
}

TEST_F(CommitterTest, another_thread_makes_commits_after_one_that_was_noticed) {
  committer_->join(clients_);
  clients_.are_waiting = true;
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  committer_->noticed();
  for (std::uint32_t i = 0; i < LoopCommits::elsewhere; ++i) {
    answer(clients_, 1);
    EXPECT_TRUE(wait_for_replies(clients_, 1));
    pages_.commit();
  }
  EXPECT_EQ(pages_.blocked(), 1u);
  answer(clients_, 1);
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  EXPECT_EQ(pages_.blocked(), 2u);
}

TEST_F(CommitterTest, nobody_has_noticed_what_was_answered_before_the_commit) {
  committer_->join(clients_);
  clients_.are_waiting = true;
  committer_->noticed();
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  answer(clients_, 1);
  EXPECT_TRUE(wait_for_replies(clients_, 1));
  EXPECT_EQ(pages_.blocked(), 2u);
}

TEST_F(CommitterTest, a_party_may_stand_still_when_all_others_wait) {
  Clients others;
  committer_->join(clients_);
  committer_->join(others);
  EXPECT_FALSE(committer_->may_stand_still(clients_));
  others.are_waiting = true;
  EXPECT_TRUE(committer_->may_stand_still(clients_));
}

TEST_F(CommitterTest, a_party_that_is_gone_is_not_asked) {
  committer_->join(clients_);
  {
    Clients others;
    committer_->join(others);
    EXPECT_FALSE(committer_->may_stand_still(clients_));
  }
  EXPECT_TRUE(committer_->may_stand_still(clients_));
  committer_.reset();  // before its party
}

// --- N2 ---

TEST_F(CommitterTest, asks_at_once_and_looks_where_nobody_tells) {
  listen(Committer::Listens::no);
  EXPECT_FALSE(committer_->expect(pages_.drain()));
  EXPECT_EQ(pages_.requests(), 1u);
  Task<Status> later = committer_->persistent_by(pages_.drain(), patience_ns);
  EXPECT_EQ(pages_.requests(), 2u);
  pages_.commit();
  turn();
  EXPECT_FALSE(later.finished());
  (void)loop_.run_for(1'000);
  EXPECT_TRUE(later.finished());
}

// --- W4 ---

TEST(CommitDue, comes_when_it_was_planned) {
  VirtualLoop loop;
  CommitDue due(loop);
  Task<void> flow = due.come(1'000);
  (void)loop.run_for(999);
  EXPECT_FALSE(flow.finished());
  (void)loop.run_for(1);
  EXPECT_TRUE(flow.finished());
}

TEST(CommitDue, comes_as_soon_as_somebody_needs_it) {
  VirtualLoop loop;
  CommitDue due(loop);
  Task<void> flow = due.come(1'000);
  due.needed_by(500);
  due.needed_by(700);
  (void)loop.run_for(499);
  EXPECT_FALSE(flow.finished());
  (void)loop.run_for(1);
  EXPECT_TRUE(flow.finished());
  flow = due.come(2'000);
  due.needed();
  (void)loop.run_for(0);
  EXPECT_TRUE(flow.finished());
}

TEST(CommitDue, knows_what_was_needed_before_and_forgets_it_afterwards) {
  VirtualLoop loop;
  CommitDue due(loop);
  due.needed();
  Task<void> flow = due.come(1'000);
  EXPECT_TRUE(flow.finished());
  flow = due.come(1'000);
  EXPECT_FALSE(flow.finished());
  (void)loop.run_for(1'000);
  EXPECT_TRUE(flow.finished());
}

}  // namespace
}  // namespace remora
