#include "host/commit_gather.h"

#include <gtest/gtest.h>

namespace remora {
namespace {

TEST(CommitGather, begins_at_once_for_the_first) {
  const CommitGather gather;
  EXPECT_TRUE(gather.is_time(1, 0));
}

TEST(CommitGather, waits_a_while_for_those_whom_the_last_commit_has_answered) {
  CommitGather gather;
  gather.began(500);
  gather.ended(6, 2, 1000);
  EXPECT_FALSE(gather.is_time(2, 1000));
  EXPECT_FALSE(gather.is_time(7, gather.latest_ns() - 1));
  EXPECT_TRUE(gather.is_time(8, 1001));
  EXPECT_TRUE(gather.is_time(1, gather.latest_ns()));
}

TEST(CommitGather, waits_for_less_than_the_last_commit_took) {
  CommitGather gather;
  gather.began(1'000'000);
  gather.ended(8, 0, 1'400'000);
  EXPECT_EQ(gather.latest_ns(), 1'700'000u);
  gather.began(2'000'000);
  gather.ended(8, 0, 1'000'000'000);
  EXPECT_EQ(gather.latest_ns(), 1'000'000'000 + CommitGather::longest_patience_ns);
}

TEST(CommitGather, expects_nobody_who_did_not_come_back) {
  CommitGather gather;
  gather.ended(8, 0, 0);
  gather.ended(3, 0, gather.latest_ns());
  EXPECT_TRUE(gather.is_time(3, gather.latest_ns() - 1));
}

TEST(LoopCommits, leaves_commits_to_others_after_one_that_was_noticed) {
  LoopCommits loop;
  EXPECT_TRUE(loop.is_next());
  loop.looked(false, 1000);
  EXPECT_TRUE(loop.is_next());
  loop.looked(true, 1000);
  for (std::uint32_t i = 0; i < LoopCommits::elsewhere; ++i) {
    EXPECT_FALSE(loop.is_next());
  }
  EXPECT_TRUE(loop.is_next());
  loop.looked(false, LoopCommits::too_long_ns + 1);
  EXPECT_FALSE(loop.is_next());
}

}  // namespace
}  // namespace remora
