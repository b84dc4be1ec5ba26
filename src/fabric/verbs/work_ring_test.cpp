#include "fabric/verbs/work_ring.h"

#include <gtest/gtest.h>

namespace remora::fabric::verbs {
namespace {

TEST(WorkName, comes_back_as_it_was_packed) {
  const WorkName name = {
      .sequence = 0xfffffffe, .slot = 0xabcd, .generation = 0x7f01, .receive = true};
  const WorkName back = WorkName::from(name.packed());
  EXPECT_EQ(back.sequence, name.sequence);
  EXPECT_EQ(back.slot, name.slot);
  EXPECT_EQ(back.generation, name.generation);
  EXPECT_TRUE(back.receive);
  EXPECT_FALSE(WorkName::from(WorkName{.slot = 3}.packed()).receive);
}

TEST(WorkRing, a_completion_takes_those_before_it_along) {
  WorkRing ring(3);
  for (std::uint64_t id = 10; id < 13; ++id) {
    ring.push({.id = id});
  }
  EXPECT_EQ(ring.room(), 0u);
  EXPECT_EQ(ring.take(1)->id, 11u);
  EXPECT_EQ(ring.room(), 2u);
  EXPECT_EQ(ring.take(2)->id, 12u);
  EXPECT_EQ(ring.room(), 3u);
}

TEST(WorkRing, knows_nothing_of_what_was_taken_or_never_posted) {
  WorkRing ring(4);
  ring.push({.id = 1});
  EXPECT_FALSE(ring.take(1).has_value());
  EXPECT_TRUE(ring.take(0).has_value());
  EXPECT_FALSE(ring.take(0).has_value());
}

TEST(WorkRing, what_was_not_posted_after_all_leaves_no_trace) {
  WorkRing ring(4);
  ring.push({.id = 1});
  ring.push({.id = 2});
  ring.take_back(1);
  EXPECT_EQ(ring.room(), 3u);
  EXPECT_FALSE(ring.take(1).has_value());
  ring.push({.id = 3});
  EXPECT_EQ(ring.take(1)->id, 3u);
}

TEST(WorkRing, goes_round_for_ever) {
  WorkRing ring(3);
  for (std::uint64_t id = 0; id < 1000; ++id) {
    ring.push({.id = id});
    EXPECT_EQ(ring.take(static_cast<std::uint32_t>(id))->id, id);
  }
  EXPECT_EQ(ring.room(), 3u);
}

}  // namespace
}  // namespace remora::fabric::verbs
