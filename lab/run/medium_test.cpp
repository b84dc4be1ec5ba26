#include "lab/run/medium.h"

#include <gtest/gtest.h>

#include <array>

namespace remora::store_bench {
namespace {

// A line takes a core 10 ns, or 2 where it is clean, and the medium 64 ns.
class CachedLinesTest : public testing::Test {
 protected:
  static fabric::nic::sim::MemoryProfile memory() {
    fabric::nic::sim::MemoryProfile memory;
    memory.flush_line_ns = 10;
    memory.flush_clean_line_ns = 2;
    return memory;
  }
  Bytes line(std::size_t number, std::size_t count = 1) {
    return Bytes(bytes).subspan(begin + number * cache_line_bytes, count * cache_line_bytes);
  }
  void change(Bytes range) { range.front() = std::byte{static_cast<unsigned char>(++stored)}; }

  static constexpr std::size_t begin = 64;
  static constexpr std::size_t line_count = 16;
  alignas(64) std::array<std::byte, begin + line_count * cache_line_bytes + 64> bytes{};
  int stored = 0;
  Medium fast{64'000'000'000};
  Medium slow{1'000'000'000};
  CachedLines lines{memory(), ConstBytes(bytes).subspan(begin, line_count* cache_line_bytes), fast};
};

TEST_F(CachedLinesTest, lines_that_nobody_changed_are_clean) {
  EXPECT_EQ(lines.write_back_ns(line(0, 4), 0), 4 * 2U);
  EXPECT_EQ(lines.write_back_ns({}, 0), 0U);
  EXPECT_EQ(fast.busy_ns(), 0U) << "they take nothing of the medium";
}

TEST_F(CachedLinesTest, a_changed_line_is_dirty_until_it_was_written_back) {
  change(line(1));
  EXPECT_EQ(lines.write_back_ns(line(0, 3), 0), 2 + 10 + 2U);
  EXPECT_EQ(lines.write_back_ns(line(0, 3), 100), 3 * 2U);
  change(line(1));
  EXPECT_EQ(lines.write_back_ns(line(1), 200), 10U);
  EXPECT_EQ(lines.dirty_lines(), 2U);
  EXPECT_EQ(lines.clean_lines(), 5U);
  EXPECT_EQ(fast.busy_ns(), 2U);
}

TEST_F(CachedLinesTest, what_was_placed_is_dirty_though_it_be_the_same) {
  lines.changed(line(2, 2).subspan(60, 8));  // the end of one and the beginning of the next
  EXPECT_EQ(lines.write_back_ns(line(0, 16), 0), 2 * 10 + 14 * 2U);
  EXPECT_EQ(lines.write_back_ns(line(0, 16), 100), 16 * 2U);
}

TEST_F(CachedLinesTest, what_lies_outside_of_the_region_is_of_no_concern) {
  lines.changed(ConstBytes(bytes).first(begin));
  lines.changed(ConstBytes(bytes).last(64));
  EXPECT_EQ(lines.write_back_ns(line(0, 16), 0), 16 * 2U);
  lines.changed(bytes);
  EXPECT_EQ(lines.write_back_ns(bytes, 100), 16 * 10U);
}

TEST_F(CachedLinesTest, cores_share_what_the_medium_takes) {
  CachedLines one(memory(), ConstBytes(bytes).subspan(begin, 8 * cache_line_bytes), slow);
  CachedLines other(memory(), ConstBytes(bytes).subspan(begin + 8 * cache_line_bytes), slow);
  one.changed(bytes);
  other.changed(bytes);
  EXPECT_EQ(one.write_back_ns(line(0, 2), 1000), 128U) << "the medium is slower than the core";
  EXPECT_EQ(other.write_back_ns(line(8), 1000), 192U) << "and takes one after the other";
  EXPECT_EQ(other.write_back_ns(line(9), 1128), 128U);
  EXPECT_EQ(one.write_back_ns(line(0, 2), 1100), 4U) << "clean lines wait for nobody";
  EXPECT_EQ(slow.busy_ns(), 256U);
}

// A core that computes a checksum first writes back later, and nobody waits for it meanwhile.
TEST(MediumTest, takes_what_comes_before_what_it_was_told_of) {
  Medium medium(1'000'000'000);  // a byte each ns
  EXPECT_EQ(medium.taken_at_ns(100, 5000), 5100U);
  EXPECT_EQ(medium.taken_at_ns(64, 1000), 1064U);
  EXPECT_EQ(medium.taken_at_ns(64, 1000), 1128U);
  EXPECT_EQ(medium.taken_at_ns(64, 5050), 5164U);
  EXPECT_EQ(medium.busy_ns(), 292U);
}

TEST(MediumTest, takes_in_pieces_what_does_not_fit_between) {
  Medium medium(1'000'000'000);
  EXPECT_EQ(medium.taken_at_ns(100, 100), 200U);
  EXPECT_EQ(medium.taken_at_ns(100, 250), 350U);
  EXPECT_EQ(medium.taken_at_ns(120, 0), 220U) << "100 before the first, 20 behind it";
  EXPECT_EQ(medium.taken_at_ns(40, 0), 360U) << "30 that were left between, 10 at the end";
  EXPECT_EQ(medium.taken_at_ns(1, 0), 361U) << "all before is taken";
  EXPECT_EQ(medium.busy_ns(), 361U);
}

TEST(MediumTest, forgets_what_is_long_ago) {
  Medium medium(1'000'000'000);
  for (std::uint64_t at_ns = 0; at_ns < 1'000'000; at_ns += 100) {
    EXPECT_EQ(medium.taken_at_ns(64, at_ns), at_ns + 64);
  }
}

}  // namespace
}  // namespace remora::store_bench
