// The sentences of the crash model about CPU stores, flush and drain.
#include "lab/memory/test_world.h"

namespace remora {
namespace {

TEST(CrashCpu, a_store_is_visible_and_not_durable) {
  TestWorld world;
  world.put(3, 5);
  EXPECT_EQ(world.seen(3), 5u);
  EXPECT_EQ(world.durable(3), 0u);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashCpu, a_word_that_did_not_change_is_not_in_doubt) {
  TestWorld world;
  world.put(3, 5);
  EXPECT_EQ(world.memory.doubt().words.size(), 1u);
  EXPECT_EQ(world.after_cut(4), (Values{0}));
}

TEST(CrashCpu, a_flush_without_a_drain_promises_nothing) {
  TestWorld world;
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashCpu, a_drain_makes_the_snapshot_durable) {
  TestWorld world;
  world.put(3, 5);
  EXPECT_TRUE(world.cpu.persistent(world.cpu.persist(world.range(3))));
  EXPECT_EQ(world.after_cut(3), (Values{5}));
}

TEST(CrashCpu, a_flush_covers_whole_lines) {
  TestWorld world;
  world.put(8, 1);
  world.put(15, 2);
  world.put(16, 3);
  (void)world.cpu.persist(world.range(10));
  EXPECT_EQ(world.after_cut(8), (Values{1}));
  EXPECT_EQ(world.after_cut(15), (Values{2}));
  EXPECT_EQ(world.after_cut(16), (Values{0, 3}));
}

TEST(CrashCpu, a_flush_over_a_line_border_covers_both_lines) {
  TestWorld world;
  world.put(0, 1);
  world.put(15, 2);
  (void)world.cpu.persist(ConstBytes(world.at(7) + 7, 2));
  EXPECT_EQ(world.after_cut(0), (Values{1}));
  EXPECT_EQ(world.after_cut(15), (Values{2}));
}

TEST(CrashCpu, an_empty_flush_does_nothing) {
  TestWorld world;
  world.cpu.flush({});
  EXPECT_EQ(world.memory.event_count(), 0u);
}

TEST(CrashCpu, a_drain_does_nothing_for_what_another_actor_flushed) {
  TestWorld world;
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  (void)world.other_cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashCpu, a_drain_does_nothing_for_stores_after_the_flush) {
  TestWorld world;
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.put(3, 6);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5, 6}));
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{5, 6}));
}

TEST(CrashCpu, of_two_snapshots_of_one_actor_the_later_counts) {
  TestWorld world;
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.put(3, 6);
  (void)world.cpu.persist(world.range(3));
  EXPECT_EQ(world.after_cut(3), (Values{6}));
}

TEST(CrashCpu, a_late_snapshot_does_not_replace_what_another_actor_drained) {
  TestWorld world;
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.put(3, 6);
  (void)world.other_cpu.persist(world.range(3));
  EXPECT_EQ(world.after_cut(3), (Values{6}));
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{6}));
}

TEST(CrashCpu, a_late_snapshot_does_not_replace_a_value_that_was_put_back) {
  TestWorld world;
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.put(3, 0);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
  (void)world.other_cpu.persist(world.range(3));
  EXPECT_EQ(world.after_cut(3), (Values{0}));
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{0}));
}

TEST(CrashCpu, a_late_snapshot_does_not_replace_an_early_write_back) {
  TestWorld world;
  world.memory.write_back_early(1);
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.put(3, 6);
  while (world.durable(3) != 6) {
    world.other_cpu.flush(world.range(100));
  }
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{6}));
}

TEST(CrashCpu, a_late_snapshot_does_not_replace_what_dma_placed) {
  TestWorld world({.ddio = false});
  world.put(3, 5);
  world.cpu.flush(world.range(3));
  world.post(1, 3, {6});
  world.memory.place_all(1);
  EXPECT_EQ(world.after_cut(3), (Values{6}));
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{6}));
}

TEST(CrashCpu, a_late_snapshot_still_brings_its_other_words) {
  TestWorld world;
  world.put(3, 5);
  world.put(4, 5);
  world.cpu.flush(world.range(3));
  world.put(3, 6);
  world.memory.write_back_early(1);
  while (world.durable(3) != 6) {
    world.other_cpu.flush(world.range(100));
  }
  world.memory.write_back_early(0);
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(3), (Values{6}));
  EXPECT_EQ(world.after_cut(4), (Values{5}));
}

TEST(CrashCpu, at_an_event_dirty_words_may_be_written_back_early) {
  TestWorld world;
  world.memory.write_back_early(1);
  world.put(300, 5);  // of this nothing was ever flushed
  for (int i = 0; i < 100; ++i) {
    world.cpu.flush(world.range(0));
  }
  EXPECT_EQ(world.durable(300), 5u);
}

TEST(CrashCpu, a_line_may_be_written_back_early_in_part) {
  bool torn = false;
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    TestWorld world({}, seed);
    world.memory.write_back_early(1);
    world.put(0, 1);
    world.put(1, 1);
    (void)world.cpu.drain();
    torn |= world.durable(0) != world.durable(1);
  }
  EXPECT_TRUE(torn);
}

TEST(CrashCpu, a_copy_is_stores_and_a_flush) {
  TestWorld world;
  const std::uint64_t values[] = {1, 2, 3};
  world.cpu.copy(world.at(5), std::as_bytes(std::span(values)));
  EXPECT_EQ(world.seen(7), 3u);
  EXPECT_EQ(world.after_cut(7), (Values{0, 3}));
  (void)world.cpu.drain();
  EXPECT_EQ(world.after_cut(7), (Values{3}));
}

TEST(CrashCpu, what_an_actor_that_died_had_flushed_may_still_arrive) {
  TestWorld world;
  {
    CrashRegion mortal(world.memory);
    world.put(3, 5);
    mortal.flush(world.range(3));
  }
  world.put(3, 6);
  CrashRegion successor(world.memory);
  (void)successor.drain();
  EXPECT_EQ(world.after_cut(3), (Values{0, 5, 6}));
}

}  // namespace
}  // namespace remora
