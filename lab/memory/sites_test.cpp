#include "lab/memory/sites.h"

#include <gtest/gtest.h>

#include "lab/memory/test_world.h"

namespace remora {
namespace {

// A helper that passes its caller's site on, as product code does.
Ticket persist_word(Region& region, ConstBytes range, Site site = Site::current()) {
  return region.persist(range, site);
}

SiteEntry only_site(CrashMemory& memory, SiteKind kind) {
  SiteEntry found;
  int count = 0;
  for (const SiteEntry& entry : memory.sites().list()) {
    if (entry.key.kind == kind) {
      found = entry;
      ++count;
    }
  }
  EXPECT_EQ(count, 1);
  return found;
}

TEST(Sites, counts_calls_per_place_and_kind) {
  TestWorld world;
  for (int i = 0; i < 3; ++i) {
    (void)world.cpu.persist(world.range(0));
  }
  EXPECT_EQ(only_site(world.memory, SiteKind::flush).calls, 3u);
  EXPECT_EQ(only_site(world.memory, SiteKind::drain).calls, 3u);
}

TEST(Sites, two_callers_of_one_helper_are_two_sites) {
  TestWorld world;
  (void)persist_word(world.cpu, world.range(0));
  (void)persist_word(world.cpu, world.range(0));
  EXPECT_EQ(world.memory.sites().list().size(), 4u);
}

TEST(Sites, two_calls_on_one_line_are_two_sites) {
  TestWorld world;
  // clang-format off
  world.cpu.flush(world.range(0)); world.cpu.flush(world.range(1));
  // clang-format on
  EXPECT_EQ(world.memory.sites().list().size(), 2u);
}

TEST(Sites, a_muted_site_that_never_ran_has_no_calls) {
  SiteTable sites;
  const SiteKey key{.file = "nowhere.cpp", .line = 1, .column = 2, .kind = SiteKind::drain};
  sites.mute(key);
  EXPECT_EQ(sites.list().size(), 1u);
  EXPECT_EQ(sites.calls(key), 0u);
  EXPECT_EQ(to_string(key), "nowhere.cpp:1:2 drain");
}

TEST(Sites, one_table_serves_several_memories) {
  SiteTable sites;
  CrashMemory run(page_bytes, {}, Random(1), &sites);
  CrashMemory recovery(page_bytes, {}, Random(2), &sites);
  for (CrashMemory* memory : {&run, &recovery}) {
    CrashRegion region(*memory);
    region.flush(region.bytes().first(8));
  }
  ASSERT_EQ(sites.list().size(), 1u);
  EXPECT_EQ(sites.list()[0].calls, 2u);
}

TEST(Sites, a_muted_flush_takes_no_snapshot) {
  TestWorld world;
  const auto write = [&] {
    world.put(0, 7);
    world.cpu.flush(world.range(0));
    return world.cpu.drain();
  };
  (void)write();
  EXPECT_EQ(world.durable(0), 7u);
  world.memory.restart(std::vector<std::byte>(world.cpu.size()));
  world.memory.sites().mute(only_site(world.memory, SiteKind::flush).key);
  (void)write();
  EXPECT_EQ(world.durable(0), 0u);
  EXPECT_EQ(world.after_cut(0), (Values{0, 7}));
  EXPECT_EQ(only_site(world.memory, SiteKind::flush).calls, 2u);
}

TEST(Sites, a_muted_drain_claims_persistence_and_leaves_the_snapshot_in_doubt) {
  TestWorld world;
  const auto drain = [&] { return world.cpu.drain(); };
  (void)drain();
  world.memory.sites().mute(only_site(world.memory, SiteKind::drain).key);
  world.put(0, 7);
  world.cpu.flush(world.range(0));
  EXPECT_TRUE(world.cpu.persistent(drain()));
  EXPECT_EQ(world.after_cut(0), (Values{0, 7}));
  (void)world.cpu.drain();
  EXPECT_EQ(world.durable(0), 7u);
}

TEST(Sites, a_muted_drain_on_page_media_claims_persistence) {
  TestWorld world({.granularity = Granularity::page});
  const auto drain = [&] { return world.cpu.drain(); };
  (void)drain();
  world.memory.sites().mute(only_site(world.memory, SiteKind::drain).key);
  world.put(0, 7);
  world.cpu.flush(world.range(0));
  const Ticket ticket = drain();
  EXPECT_EQ(ticket.commit, 0u);
  EXPECT_TRUE(world.cpu.persistent(ticket));
  EXPECT_EQ(world.after_cut(0), (Values{0, 7}));
}

TEST(Sites, a_muted_copy_copies_and_takes_no_snapshot) {
  TestWorld world;
  const std::uint64_t value = 7;
  const auto copy = [&] { world.cpu.copy(world.at(0), object_bytes(value)); };
  copy();
  world.memory.restart(std::vector<std::byte>(world.cpu.size()));
  world.memory.sites().mute(only_site(world.memory, SiteKind::copy).key);
  copy();
  (void)world.cpu.drain();
  EXPECT_EQ(world.seen(0), 7u);
  EXPECT_EQ(world.durable(0), 0u);
  world.memory.sites().unmute_all();
  copy();
  (void)world.cpu.drain();
  EXPECT_EQ(world.durable(0), 7u);
}

TEST(Sites, muting_changes_no_event_index) {
  TestWorld world;
  const auto write = [&] {
    world.put(0, 7);
    world.cpu.flush(world.range(0));
    (void)world.cpu.drain();
    return world.memory.event_count();
  };
  const std::uint64_t events = write();
  for (const SiteEntry& site : world.memory.sites().list()) {
    world.memory.restart(std::vector<std::byte>(world.cpu.size()));
    world.memory.sites().unmute_all();
    world.memory.sites().mute(site.key);
    EXPECT_EQ(write(), events);
  }
}

}  // namespace
}  // namespace remora
