// The sentences of the crash model about what a power cut takes, by persistence domain.
#include "lab/memory/images.h"
#include "lab/memory/test_world.h"

namespace remora {
namespace {

// Word 0 stored, word 1 flushed, word 2 placed, word 3 inbound, word 4 inbound and acknowledged.
TestWorld& prepare(TestWorld& world) {
  world.put(0, 1);
  world.put(1, 1);
  world.cpu.flush(world.range(1));
  world.post(1, 2, {1});
  world.memory.place_all(1);
  world.memory.acknowledge(2, world.post(2, 4, {1}));
  world.post(3, 3, {1});
  return world;
}

const Values in_doubt = {0, 1};
const Values one_kept = {1};

TEST(CrashDomain, dmp_leaves_dirty_and_inbound_words_in_doubt) {
  TestWorld world({.domain = Domain::dmp});
  prepare(world);
  for (std::size_t word = 0; word < 5; ++word) {
    EXPECT_EQ(world.after_cut(word), in_doubt) << word;
  }
}

TEST(CrashDomain, mhp_keeps_what_is_visible_and_leaves_inbound_words_in_doubt) {
  TestWorld world({.domain = Domain::mhp});
  prepare(world);
  EXPECT_EQ(world.after_cut(0), one_kept);
  EXPECT_EQ(world.after_cut(1), one_kept);
  EXPECT_EQ(world.after_cut(2), one_kept);
  EXPECT_EQ(world.after_cut(3), in_doubt);
  EXPECT_EQ(world.after_cut(4), in_doubt);
}

TEST(CrashDomain, wsp_keeps_what_was_acknowledged_as_well) {
  TestWorld world({.domain = Domain::wsp});
  prepare(world);
  EXPECT_EQ(world.after_cut(0), one_kept);
  EXPECT_EQ(world.after_cut(2), one_kept);
  EXPECT_EQ(world.after_cut(3), in_doubt);
  EXPECT_EQ(world.after_cut(4), one_kept);
  Images images;
  for (images.take(world.memory, Random(1)); images.next();) {
    EXPECT_EQ(load<std::uint64_t>(images.bytes().data() + 4 * word_bytes), 1u);
  }
}

TEST(CrashDomain, wsp_keeps_the_acknowledged_part_of_a_queue) {
  TestWorld world({.domain = Domain::wsp});
  world.post(1, 0, {1});
  world.memory.acknowledge(1, world.post(1, 0, {2}));
  world.post(1, 0, {3});
  EXPECT_EQ(world.after_cut(0), (Values{2, 3}));
}

TEST(CrashDomain, wsp_leaves_the_order_between_queue_pairs_open) {
  TestWorld world({.domain = Domain::wsp});
  world.memory.acknowledge(1, world.post(1, 0, {1}));
  world.memory.acknowledge(2, world.post(2, 0, {2}));
  EXPECT_EQ(world.after_cut(0), (Values{1, 2}));
}

TEST(CrashDomain, a_copy_can_be_cut_half_way_where_caches_are_saved) {
  TestWorld world({.domain = Domain::mhp});
  const std::vector<std::uint64_t> values(32, 1);
  std::set<std::size_t> copied;
  world.memory.on_event([&](const CrashEvent& event) {
    if (event.kind == EventKind::copy && event.moment == Moment::before) {
      std::size_t words = 0;
      while (world.after_cut(words) == one_kept) {
        ++words;
      }
      copied.insert(words);
    }
  });
  for (int i = 0; i < 20; ++i) {
    world.memory.restart(std::vector<std::byte>(world.cpu.size()));
    world.cpu.copy(world.at(0), std::as_bytes(std::span(values)));
  }
  EXPECT_GT(copied.size(), 5u);
}

TEST(CrashDomain, a_word_is_never_torn) {
  TestWorld world;
  const std::vector<std::uint64_t> values(4, ~std::uint64_t{0});
  world.memory.on_event([&](const CrashEvent&) {
    for (std::size_t word = 0; word < 4; ++word) {
      for (const std::uint64_t value : world.after_cut(word)) {
        EXPECT_TRUE(value == 0 || value == ~std::uint64_t{0});
      }
    }
  });
  for (int i = 0; i < 20; ++i) {
    world.memory.restart(std::vector<std::byte>(world.cpu.size()));
    world.cpu.copy(world.at(0), std::as_bytes(std::span(values)));
  }
}

}  // namespace
}  // namespace remora
