// The sentences of the crash model about page media.
#include "lab/memory/test_world.h"

namespace remora {
namespace {

constexpr Platform page_media = {.granularity = Granularity::page};

TEST(CrashPage, a_drain_gives_a_ticket_that_is_not_persistent_yet) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket ticket = world.cpu.persist(world.range(3));
  EXPECT_NE(ticket.commit, 0u);
  EXPECT_FALSE(world.cpu.persistent(ticket));
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashPage, wait_commits_whole_pages) {
  TestWorld world(page_media);
  world.put(3, 5);
  world.put(511, 6);
  world.put(512, 7);
  const Ticket ticket = world.cpu.persist(world.range(3));
  EXPECT_TRUE(world.cpu.wait(ticket).ok());
  EXPECT_TRUE(world.cpu.persistent(ticket));
  EXPECT_EQ(world.after_cut(3), (Values{5}));
  EXPECT_EQ(world.after_cut(511), (Values{6}));
  EXPECT_EQ(world.after_cut(512), (Values{0, 7}));
}

TEST(CrashPage, a_request_is_granted_when_the_loop_runs_commits) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket ticket = world.cpu.persist(world.range(3));
  world.memory.run_requested_commits();
  EXPECT_FALSE(world.cpu.persistent(ticket));
  world.cpu.request(ticket);
  EXPECT_FALSE(world.cpu.persistent(ticket));
  world.memory.run_requested_commits();
  EXPECT_TRUE(world.cpu.persistent(ticket));
}

TEST(CrashPage, many_drains_share_one_commit) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket first = world.cpu.persist(world.range(3));
  world.put(600, 6);
  const Ticket second = world.other_cpu.persist(world.range(600));
  EXPECT_EQ(first.commit, second.commit);
  EXPECT_TRUE(world.cpu.wait(first).ok());
  EXPECT_TRUE(world.cpu.persistent(second));
  EXPECT_EQ(world.memory.doubt().words.size(), 0u);
}

TEST(CrashPage, a_commit_takes_the_pages_as_they_are_when_it_starts) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket ticket = world.cpu.persist(world.range(3));
  world.put(3, 6);
  world.memory.start_commit();
  world.put(3, 7);
  EXPECT_EQ(world.after_cut(3), (Values{0, 6, 7}));
  EXPECT_FALSE(world.cpu.persistent(ticket));
  world.memory.finish_commit();
  EXPECT_EQ(world.after_cut(3), (Values{6, 7}));
  EXPECT_TRUE(world.cpu.persistent(ticket));
}

TEST(CrashPage, a_drain_during_a_commit_belongs_to_the_next) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket first = world.cpu.persist(world.range(3));
  world.memory.start_commit();
  world.put(3, 6);
  const Ticket second = world.cpu.persist(world.range(3));
  EXPECT_GT(second.commit, first.commit);
  EXPECT_TRUE(world.cpu.wait(second).ok());
  EXPECT_EQ(world.after_cut(3), (Values{6}));
}

TEST(CrashPage, pages_that_were_flushed_and_not_drained_are_not_committed) {
  TestWorld world(page_media);
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.put(600, 6);
  EXPECT_TRUE(world.other_cpu.wait(world.other_cpu.persist(world.range(600))).ok());
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashPage, a_drain_with_nothing_new_still_covers_what_waits) {
  TestWorld world(page_media);
  EXPECT_TRUE(world.cpu.persistent(world.cpu.drain()));
  world.put(3, 5);
  (void)world.cpu.persist(world.range(3));
  EXPECT_FALSE(world.cpu.persistent(world.cpu.drain()));
}

TEST(CrashPage, the_snapshot_is_in_doubt_while_the_commit_runs) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket ticket = world.cpu.persist(world.range(3));
  std::vector<Values> at_commit;
  world.memory.on_event([&](const CrashEvent& event) {
    if (event.kind == EventKind::commit) {
      at_commit.push_back(world.after_cut(3));
    }
  });
  EXPECT_TRUE(world.cpu.wait(ticket).ok());
  EXPECT_EQ(at_commit, (std::vector<Values>{{0, 5}, {5}}));
}

TEST(CrashPage, no_domain_and_no_rdma_flush_makes_the_page_cache_durable) {
  for (Platform platform : all_platforms()) {
    platform.granularity = Granularity::page;
    TestWorld world(platform);
    world.post(1, 3, {5});
    world.flush_remotely(1, 3);
    EXPECT_EQ(world.seen(3), 5u);
    EXPECT_EQ(world.after_cut(3), (Values{0, 5})) << to_string(platform);
  }
}

TEST(CrashPage, a_failed_commit_is_final) {
  TestWorld world(page_media);
  world.put(3, 5);
  const Ticket before = world.cpu.persist(world.range(3));
  EXPECT_TRUE(world.cpu.wait(before).ok());
  world.put(3, 6);
  const Ticket failing = world.cpu.persist(world.range(3));
  world.memory.fail_next_commit();
  EXPECT_EQ(world.cpu.wait(failing).code(), Code::io_error);
  EXPECT_TRUE(world.memory.failed());
  const Ticket later = world.cpu.persist(world.range(3));
  world.cpu.request(later);
  world.memory.run_requested_commits();
  EXPECT_EQ(world.cpu.wait(later).code(), Code::io_error);
  EXPECT_FALSE(world.cpu.persistent(failing));
  EXPECT_FALSE(world.cpu.persistent(later));
  EXPECT_TRUE(world.cpu.persistent(before));
}

TEST(CrashPage, a_failed_commit_leaves_some_words_durable_and_some_not) {
  TestWorld world(page_media);
  for (std::size_t word = 0; word < 64; ++word) {
    world.put(word, 1);
  }
  world.memory.fail_next_commit();
  EXPECT_FALSE(world.cpu.wait(world.cpu.persist(world.range(0, 64))).ok());
  const std::size_t lost = world.memory.doubt().words.size();
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, 64u);
}

TEST(CrashPage, a_new_power_on_forgets_the_failure) {
  TestWorld world(page_media);
  world.memory.fail_next_commit();
  EXPECT_FALSE(world.cpu.wait(world.cpu.persist(world.range(0))).ok());
  world.memory.restart(world.memory.visible());
  world.put(3, 5);
  EXPECT_TRUE(world.cpu.wait(world.cpu.persist(world.range(3))).ok());
  EXPECT_EQ(world.after_cut(3), (Values{5}));
}

}  // namespace
}  // namespace remora
