#include "kv/efactory/living.h"

#include <gtest/gtest.h>

namespace remora::kv::efactory {
namespace {

constexpr std::uint64_t pool_bytes = 1 << 20;
constexpr std::uint64_t segment_bytes = 64 << 10;

Segment segment_at(Offset offset) {
  return {.offset = offset, .capacity_bytes = segment_bytes};
}

TEST(LivingTest, knows_what_lives_in_a_segment) {
  Living living(pool_bytes, segment_bytes);
  EXPECT_EQ(living.within(segment_at(0)), 0u);
  living.add(64, 128);
  living.add(segment_bytes - 64, 1024);
  living.add(segment_bytes, 4096);
  EXPECT_EQ(living.within(segment_at(0)), 1152u);
  EXPECT_EQ(living.within(segment_at(segment_bytes)), 4096u);
  living.take(64, 128);
  EXPECT_EQ(living.within(segment_at(0)), 1024u);
}

TEST(LivingTest, reaches_to_the_end_of_the_pool) {
  Living living(pool_bytes, segment_bytes);
  living.add(pool_bytes - 64, 64);
  EXPECT_EQ(living.within(segment_at(pool_bytes - segment_bytes)), 64u);
}

// A segment begins where the pool's allocator put it.
TEST(LivingTest, counts_no_more_than_its_neighbours_ends_too_much) {
  Living living(pool_bytes, segment_bytes);
  const Offset begin = segment_bytes + 640;
  for (Offset offset = 0; offset < pool_bytes; offset += 64) {
    living.add(offset, 64);
  }
  EXPECT_GE(living.within(segment_at(begin)), segment_bytes);
  EXPECT_LE(living.within(segment_at(begin)), segment_bytes + segment_bytes / 16);
}

}  // namespace
}  // namespace remora::kv::efactory
