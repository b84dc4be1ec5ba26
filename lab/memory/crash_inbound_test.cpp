// The sentences of the crash model about remote WRITEs.
#include "lab/memory/test_world.h"

namespace remora {
namespace {

constexpr Platform ddio_on = {.ddio = true};
constexpr Platform ddio_off = {.ddio = false};

TEST(CrashInbound, a_posted_write_is_seen_by_no_cpu) {
  TestWorld world;
  world.post(1, 3, {5});
  EXPECT_EQ(world.seen(3), 0u);
  EXPECT_EQ(world.memory.waiting(1), 1u);
}

TEST(CrashInbound, a_posted_write_is_seen_by_no_other_queue_pair) {
  TestWorld world;
  Random random(1);
  world.post(1, 3, {5});
  std::uint64_t value = 1;
  world.memory.read(2, 3 * word_bytes, std::as_writable_bytes(std::span(&value, 1)), random);
  EXPECT_EQ(value, 0u);
}

TEST(CrashInbound, a_read_sees_the_earlier_writes_of_its_own_queue_pair) {
  TestWorld world;
  Random random(1);
  world.post(1, 3, {5});
  std::uint64_t value = 0;
  world.memory.read(1, 3 * word_bytes, std::as_writable_bytes(std::span(&value, 1)), random);
  EXPECT_EQ(value, 5u);
  EXPECT_EQ(world.seen(3), 5u);
}

TEST(CrashInbound, an_acknowledged_write_may_still_be_invisible) {
  TestWorld world;
  world.memory.acknowledge(1, world.post(1, 3, {5}));
  EXPECT_EQ(world.seen(3), 0u);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashInbound, placing_all_of_one_queue_pair_places_nothing_of_another) {
  TestWorld world;
  world.post(1, 3, {5});
  world.post(2, 4, {6});
  world.memory.place_all(1);
  EXPECT_EQ(world.seen(3), 5u);
  EXPECT_EQ(world.seen(4), 0u);
}

TEST(CrashInbound, writes_become_visible_in_the_order_of_their_queue_pair) {
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    TestWorld world;
    Random random(seed);
    world.post(1, 3, {5});
    world.post(1, 4, {6});
    world.memory.place_some(random);
    EXPECT_FALSE(world.seen(4) == 6 && world.seen(3) == 0);
  }
}

TEST(CrashInbound, writes_become_visible_at_a_time_of_the_seed) {
  Values seen;
  for (std::uint64_t seed = 1; seed < 100; ++seed) {
    TestWorld world;
    Random random(seed);
    world.post(1, 3, {5});
    world.post(1, 3, {6});
    world.memory.place_some(random);
    seen.insert(world.seen(3));
  }
  EXPECT_EQ(seen, (Values{0, 5, 6}));
}

// The patterns in which a target CPU sees a WRITE of three words, as bits.
Values patterns_seen_by_cpu(Platform platform) {
  Values patterns;
  for (std::uint64_t seed = 1; seed < 400; ++seed) {
    TestWorld world(platform);
    Random random(seed);
    world.post(1, 3, {1, 2, 4});
    world.memory.place_some(random);
    patterns.insert(world.seen(3) | world.seen(4) | world.seen(5));
  }
  return patterns;
}

TEST(CrashInbound, a_cpu_sees_the_words_of_one_write_in_ascending_order) {
  EXPECT_EQ(patterns_seen_by_cpu({.ascending = true}), (Values{0, 1, 3, 7}));
}

TEST(CrashInbound, a_cpu_sees_them_in_any_order_where_the_device_says_so) {
  EXPECT_EQ(patterns_seen_by_cpu({.ascending = false}), (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(CrashInbound, a_concurrent_read_may_see_them_in_any_order) {
  Values patterns;
  for (std::uint64_t seed = 1; seed < 400; ++seed) {
    TestWorld world;
    Random random(seed);
    world.post(1, 3, {1, 2, 4});
    world.memory.place_some(random);
    std::uint64_t values[3] = {};
    const Bytes out = std::as_writable_bytes(std::span(values));
    world.memory.read(2, 3 * word_bytes, out, random);
    const std::uint64_t first = values[0] | values[1] | values[2];
    patterns.insert(first);
    world.memory.read(2, 3 * word_bytes, out, random);
    EXPECT_EQ((values[0] | values[1] | values[2]) & first, first) << "a later READ sees no less";
  }
  EXPECT_EQ(patterns, (Values{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(CrashInbound, persistence_may_see_them_in_any_order) {
  TestWorld world;
  world.post(1, 3, {1, 2, 4});
  EXPECT_EQ(world.memory.doubt().combinations(1000), 8u);
}

TEST(CrashInbound, a_placed_word_is_durable_with_ddio_off) {
  TestWorld world(ddio_off);
  world.post(1, 3, {5});
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
  world.memory.place_all(1);
  EXPECT_EQ(world.after_cut(3), (Values{5}));
}

TEST(CrashInbound, a_placed_word_is_dirty_with_ddio_on) {
  TestWorld world(ddio_on);
  world.post(1, 3, {5});
  world.memory.place_all(1);
  EXPECT_EQ(world.seen(3), 5u);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashInbound, a_cpu_flush_and_drain_make_a_placed_word_durable) {
  TestWorld world(ddio_on);
  world.post(1, 3, {5});
  world.memory.place_all(1);
  (void)world.cpu.persist(world.range(3));
  EXPECT_EQ(world.after_cut(3), (Values{5}));
}

TEST(CrashInbound, a_platform_flush_makes_durable_whatever_ddio_says) {
  for (const bool ddio : {true, false}) {
    TestWorld world({.ddio = ddio, .flush = FlushMeaning::platform});
    world.post(1, 3, {5});
    world.flush_remotely(1, 3);
    EXPECT_EQ(world.after_cut(3), (Values{5}));
  }
}

TEST(CrashInbound, a_pcie_flush_makes_visible_so_durable_with_ddio_off_alone) {
  for (const bool ddio : {true, false}) {
    TestWorld world({.ddio = ddio, .flush = FlushMeaning::pcie});
    world.post(1, 3, {5});
    world.flush_remotely(1, 3);
    EXPECT_EQ(world.seen(3), 5u);
    EXPECT_EQ(world.after_cut(3), ddio ? (Values{0, 5}) : (Values{5}));
  }
}

TEST(CrashInbound, a_flush_to_visibility_makes_nothing_durable) {
  TestWorld world(ddio_on);
  world.post(1, 3, {5});
  world.flush_remotely(1, 3, 1, FlushTo::visibility);
  EXPECT_EQ(world.seen(3), 5u);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

TEST(CrashInbound, a_flush_covers_its_range_alone) {
  TestWorld world(ddio_on);
  world.post(1, 3, {5, 6, 7});
  world.flush_remotely(1, 4);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
  EXPECT_EQ(world.after_cut(4), (Values{6}));
  EXPECT_EQ(world.after_cut(5), (Values{0, 7}));
  world.flush_remotely(1, 0, 512);
  EXPECT_EQ(world.memory.doubt().words.size(), 0u);
}

TEST(CrashInbound, a_flush_covers_what_its_own_queue_pair_wrote_alone) {
  TestWorld world(ddio_on);
  world.post(1, 3, {5});
  world.post(1, 6, {5});
  world.post(2, 4, {6});
  world.memory.place_all(2);
  world.put(5, 7);
  world.flush_remotely(1, 0, 8);
  EXPECT_EQ(world.after_cut(3), (Values{5}));
  EXPECT_EQ(world.after_cut(4), (Values{0, 6}));
  EXPECT_EQ(world.after_cut(5), (Values{0, 7}));
  EXPECT_EQ(world.after_cut(6), (Values{5}));
}

TEST(CrashInbound, a_flush_of_a_long_range_covers_writes_far_apart) {
  TestWorld world(ddio_on);
  for (const std::size_t word : {5u, 63u, 64u, 191u, 1000u}) {
    world.post(1, word, {5});
  }
  world.flush_remotely(1, 1, 1000);
  EXPECT_TRUE(world.memory.doubt().words.empty());
}

TEST(CrashInbound, a_flush_places_earlier_writes_outside_its_range_too) {
  TestWorld world(ddio_on);
  world.post(1, 100, {5});
  world.flush_remotely(1, 3);
  EXPECT_EQ(world.seen(100), 5u);
  EXPECT_EQ(world.after_cut(100), (Values{0, 5}));
}

TEST(CrashInbound, a_write_of_single_bytes_leaves_their_neighbours) {
  TestWorld world(ddio_off);
  world.put(3, 0x1111111111111111);
  world.put(4, 0x1111111111111111);
  const std::uint16_t value = 0x2222;
  world.memory.post_inbound(1, 3 * word_bytes + 7, object_bytes(value));
  EXPECT_EQ(world.after_cut(3), (Values{0, 0x1111111111111111, 0x2211111111111111}));
  world.memory.place_all(1);
  EXPECT_EQ(world.seen(3), 0x2211111111111111u);
  EXPECT_EQ(world.seen(4), 0x1111111111111122u);
}

TEST(CrashInbound, one_queue_pair_leaves_its_values_in_order_and_two_in_any) {
  TestWorld world;
  const auto byte_at = [&](QpNumber qp, std::size_t byte, std::uint8_t value) {
    world.memory.post_inbound(qp, byte, object_bytes(value));
  };
  byte_at(1, 0, 1);
  byte_at(1, 1, 1);
  EXPECT_EQ(world.after_cut(0), (Values{0, 0x1, 0x101}));
  byte_at(2, 0, 2);
  EXPECT_EQ(world.after_cut(0), (Values{0, 0x1, 0x101, 0x2, 0x102}));
}

TEST(CrashInbound, dropping_a_queue_pair_places_or_drops_by_the_seed_in_order) {
  Values patterns;
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    TestWorld world(ddio_on, seed);
    world.post(1, 3, {1});
    world.post(1, 4, {2});
    world.memory.drop_qp(1);
    EXPECT_EQ(world.memory.waiting(1), 0u);
    patterns.insert(world.seen(3) | world.seen(4));
  }
  EXPECT_EQ(patterns, (Values{0, 1, 3}));
}

TEST(CrashInbound, dropping_a_queue_pair_keeps_what_was_acknowledged) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    TestWorld world(ddio_on, seed);
    world.memory.acknowledge(1, world.post(1, 3, {1}));
    world.post(1, 4, {2});
    world.memory.drop_qp(1);
    EXPECT_EQ(world.seen(3), 1u);
  }
}

TEST(CrashInbound, a_new_queue_pair_of_the_same_number_did_not_write_what_the_old_one_wrote) {
  TestWorld world(ddio_on);
  world.post(1, 3, {5});
  world.memory.place_all(1);
  world.memory.drop_qp(1);
  world.flush_remotely(1, 3);
  EXPECT_EQ(world.after_cut(3), (Values{0, 5}));
}

}  // namespace
}  // namespace remora
