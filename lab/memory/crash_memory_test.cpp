// Events, restart, and that a seed decides everything.
#include "lab/memory/crash_memory.h"

#include "lab/memory/images.h"
#include "lab/memory/test_world.h"

namespace remora {
namespace {

std::vector<std::string> record_events(TestWorld& world, const std::function<void()>& act) {
  std::vector<std::string> names;
  const std::uint64_t first = world.memory.event_count();
  world.memory.on_event([&](const CrashEvent& event) {
    EXPECT_EQ(event.index, first + names.size());
    names.push_back(std::string(to_string(event.moment)) + " " +
                    std::string(to_string(event.kind)));
  });
  act();
  world.memory.on_event(nullptr);
  return names;
}

TEST(CrashMemory, every_step_towards_persistence_is_an_event) {
  TestWorld world;
  const std::uint64_t value = 1;
  Random random(1);
  const auto names = record_events(world, [&] {
    world.cpu.flush(world.range(0));
    (void)world.cpu.drain();
    world.cpu.copy(world.at(0), object_bytes(value));
    world.post(1, 0, {1});
    world.memory.place_all(1);
    world.memory.place_all(1);  // nothing waits: no event
    world.memory.place_some(random);
    world.flush_remotely(1, 0);
    world.memory.drop_qp(1);
  });
  EXPECT_EQ(names, (std::vector<std::string>{"after flush", "before drain", "after drain",
                                             "before copy", "after copy", "after inbound_post",
                                             "after inbound_place", "before inbound_flush",
                                             "after inbound_flush", "after inbound_drop"}));
}

TEST(CrashMemory, a_commit_is_an_event_before_and_after) {
  TestWorld world({.granularity = Granularity::page});
  const Ticket ticket = world.cpu.persist(world.range(0));
  const auto names = record_events(world, [&] { EXPECT_TRUE(world.cpu.wait(ticket).ok()); });
  EXPECT_EQ(names, (std::vector<std::string>{"before commit", "after commit"}));
}

TEST(CrashMemory, an_event_names_the_site_that_asked) {
  TestWorld world;
  std::uint32_t line = 0;
  world.memory.on_event([&](const CrashEvent& event) { line = event.site->line(); });
  const Site here = Site::current();
  world.cpu.flush(world.range(0));
  EXPECT_EQ(line, here.line() + 1);
}

TEST(CrashMemory, before_a_drain_the_snapshot_is_in_doubt_and_after_it_is_not) {
  TestWorld world;
  std::vector<Values> at_drain;
  world.put(0, 1);
  world.cpu.flush(world.range(0));
  world.memory.on_event([&](const CrashEvent&) { at_drain.push_back(world.after_cut(0)); });
  (void)world.cpu.drain();
  EXPECT_EQ(at_drain, (std::vector<Values>{{0, 1}, {1}}));
}

TEST(CrashMemory, before_a_remote_flush_the_words_are_in_doubt_and_after_it_they_are_not) {
  TestWorld world;
  std::vector<Values> at_flush;
  world.post(1, 0, {1});
  world.memory.place_all(1);
  world.memory.on_event([&](const CrashEvent&) { at_flush.push_back(world.after_cut(0)); });
  world.flush_remotely(1, 0);
  EXPECT_EQ(at_flush, (std::vector<Values>{{0, 1}, {1}}));
}

TEST(CrashMemory, restart_leaves_the_image_and_nothing_else) {
  TestWorld world;
  world.put(0, 1);
  world.cpu.flush(world.range(0));
  world.put(0, 2);
  world.post(1, 1, {1});
  std::vector<std::byte> image(world.cpu.size());
  store(image.data(), std::uint64_t{9});
  world.memory.restart(image);
  EXPECT_EQ(world.seen(0), 9u);
  EXPECT_EQ(world.durable(0), 9u);
  EXPECT_EQ(world.memory.waiting(1), 0u);
  EXPECT_EQ(world.memory.event_count(), 0u);
  EXPECT_TRUE(world.memory.doubt().words.empty());
  (void)world.cpu.drain();
  EXPECT_EQ(world.durable(0), 9u);
}

TEST(CrashMemory, restart_with_its_own_visible_image_is_an_orderly_shutdown) {
  TestWorld world;
  world.put(0, 1);
  world.memory.restart(world.memory.visible());
  EXPECT_EQ(world.after_cut(0), (Values{1}));
  EXPECT_EQ(world.durable(0), 1u);
}

TEST(CrashMemory, persistence_works_after_a_restart) {
  TestWorld world;
  world.put(0, 1);
  (void)world.cpu.persist(world.range(0));
  world.memory.restart(std::vector<std::byte>(world.cpu.size()));
  world.put(0, 1);
  (void)world.cpu.persist(world.range(0));
  EXPECT_EQ(world.after_cut(0), (Values{1}));
}

TEST(CrashMemory, restart_may_change_the_platform) {
  TestWorld world({.domain = Domain::dmp});
  world.memory.restart(world.memory.visible(), {.domain = Domain::mhp}, Random(1));
  world.put(0, 1);
  EXPECT_EQ(world.after_cut(0), (Values{1}));
  world.memory.restart(world.memory.visible(), {.granularity = Granularity::page}, Random(1));
  EXPECT_EQ(world.cpu.granularity(), Granularity::page);
}

TEST(CrashMemory, a_recovery_can_be_cut_inside_the_cut_of_a_run) {
  TestWorld world;
  TestWorld recovery;
  Images cuts;
  Images inner_cuts;
  Values found;
  recovery.memory.on_event([&](const CrashEvent&) {
    for (inner_cuts.take(recovery.memory, Random(2)); inner_cuts.next();) {
      found.insert(load<std::uint64_t>(inner_cuts.bytes().data()));
    }
  });
  world.memory.on_event([&](const CrashEvent&) {
    for (cuts.take(world.memory, Random(1)); cuts.next();) {
      recovery.memory.restart(cuts.bytes());
      recovery.put(0, recovery.seen(0) + 10);
      recovery.cpu.flush(recovery.range(0));
    }
  });
  world.put(0, 1);
  world.cpu.flush(world.range(0));
  EXPECT_EQ(found, (Values{0, 1, 10, 11}));
  EXPECT_EQ(world.seen(0), 1u);
}

// A busy run; returns the hashes of all images at all events.
std::vector<std::uint64_t> hashes_of_run(std::uint64_t seed) {
  TestWorld world({}, seed);
  world.memory.write_back_early(4);
  Random program(7);
  Random cuts(seed);
  Images images({.exhaustive = 16, .samples = 8});
  std::vector<std::uint64_t> hashes;
  world.memory.on_event([&](const CrashEvent&) {
    for (images.take(world.memory, cuts.fork()); images.next();) {
      hashes.push_back(images.hash());
    }
  });
  for (int i = 0; i < 60; ++i) {
    const std::size_t word = program.below(2000);
    world.put(word, program.next());
    world.cpu.flush(world.range(word));
    world.post(static_cast<QpNumber>(i % 3), program.below(2000), {program.next(), 3, 4});
    world.memory.place_some(program);
    if (i % 8 == 7) {
      (void)world.cpu.drain();
      world.memory.drop_qp(1);
    }
  }
  return hashes;
}

TEST(CrashMemory, the_same_seed_gives_the_same_images) {
  EXPECT_EQ(hashes_of_run(5), hashes_of_run(5));
  EXPECT_NE(hashes_of_run(5), hashes_of_run(6));
}

TEST(CrashMemory, taking_images_does_not_disturb_the_run) {
  const auto final_image = [](bool look) {
    TestWorld world;
    world.memory.write_back_early(2);
    Images images;
    world.memory.on_event([&](const CrashEvent&) {
      if (look) {
        for (images.take(world.memory, Random(3)); images.next();) {
        }
      }
    });
    for (std::size_t i = 0; i < 200; ++i) {
      world.put(i * 7, i + 1);
      world.cpu.flush(world.range(0));
    }
    return std::vector<std::byte>(world.memory.durable().begin(), world.memory.durable().end());
  };
  EXPECT_EQ(final_image(true), final_image(false));
}

// --- Kills

TEST(CrashMemoryKill, leaves_what_is_seen_and_what_a_cut_may_take_of_it) {
  TestWorld world;
  world.put(0, 1);
  world.put(8, 2);
  world.cpu.flush(world.range(8));
  world.memory.kill();
  EXPECT_TRUE(world.memory.was_killed());
  EXPECT_EQ(world.seen(0), 1u);
  EXPECT_EQ(world.after_cut(0), (Values{0, 1}));
  EXPECT_EQ(world.after_cut(8), (Values{2}));  // flushed: the processor has left the process
  EXPECT_TRUE(world.other_cpu.persist_found(world.range(0)).ok());
  EXPECT_EQ(world.after_cut(0), (Values{1}));
}

TEST(CrashMemoryKill, places_what_was_acknowledged) {
  TestWorld world;
  const std::uint64_t write = world.post(1, 0, {7});
  world.memory.acknowledge(1, write);
  world.memory.kill();
  EXPECT_EQ(world.seen(0), 7u);
  EXPECT_EQ(world.memory.waiting(1), 0u);
}

TEST(CrashMemoryKill, loses_nothing_on_pages_which_are_synced_when_they_are_opened) {
  TestWorld world({.granularity = Granularity::page});
  world.put(0, 1);
  world.memory.kill();
  EXPECT_EQ(world.seen(0), 1u);
  EXPECT_EQ(world.after_cut(0), (Values{1}));
}

TEST(CrashMemoryKill, is_over_with_the_next_power_on) {
  TestWorld world;
  world.memory.kill();
  world.memory.restart(world.memory.durable());
  EXPECT_FALSE(world.memory.was_killed());
}

}  // namespace
}  // namespace remora
