#include "pmem/size_classes.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace remora {
namespace {

using pool_format::block_bytes;

bool takes_whole_blocks(std::uint64_t size_bytes) {
  return size_class_for(size_bytes) == size_classes.size();
}

std::uint64_t capacity_for(std::uint64_t size_bytes) {
  return takes_whole_blocks(size_bytes) ? round_up(size_bytes, block_bytes)
                                        : size_classes[size_class_for(size_bytes)].object_bytes;
}

// What an object of that size may leave unused: less than a line, or a quarter, or a block.
std::uint64_t waste_limit(std::uint64_t size_bytes) {
  return takes_whole_blocks(size_bytes) ? block_bytes
                                        : std::max(cache_line_bytes, size_bytes / 4 + 1);
}

void expect_good_fit(std::uint64_t size_bytes) {
  const std::uint64_t capacity = capacity_for(size_bytes);
  ASSERT_GE(capacity, size_bytes);
  ASSERT_LT(capacity - size_bytes, waste_limit(size_bytes)) << size_bytes;
  ASSERT_EQ(capacity % cache_line_bytes, 0u);
}

TEST(SizeClasses, every_small_size_fits_with_bounded_waste) {
  for (std::uint64_t size_bytes = 1; size_bytes <= 4 * block_bytes; ++size_bytes) {
    expect_good_fit(size_bytes);
  }
}

TEST(SizeClasses, every_boundary_up_to_the_largest_object_fits_with_bounded_waste) {
  for (std::uint64_t size_bytes = block_bytes; size_bytes < largest_object_bytes;
       size_bytes += block_bytes) {
    expect_good_fit(size_bytes - 1);
    expect_good_fit(size_bytes);
    expect_good_fit(size_bytes + 1);
  }
  expect_good_fit(largest_object_bytes - 1);
  expect_good_fit(largest_object_bytes);
}

TEST(SizeClasses, the_class_is_the_smallest_that_holds_the_size) {
  for (std::uint64_t size_bytes = 1; size_bytes <= size_classes.back().object_bytes; ++size_bytes) {
    const std::size_t index = size_class_for(size_bytes);
    if (index < size_classes.size() && index > 0) {
      ASSERT_LT(size_classes[index - 1].object_bytes, size_bytes);
    }
  }
}

TEST(SizeClasses, four_kilobytes_are_exactly_one_block) {
  EXPECT_TRUE(takes_whole_blocks(block_bytes));
  EXPECT_EQ(capacity_for(block_bytes), block_bytes);
  EXPECT_TRUE(takes_whole_blocks(3585));
  EXPECT_EQ(capacity_for(3584), 3584u);
  EXPECT_EQ(capacity_for(block_bytes + 1), 5120u);
}

TEST(SizeClasses, what_exceeds_the_largest_class_takes_whole_blocks) {
  EXPECT_FALSE(takes_whole_blocks(7168));
  EXPECT_TRUE(takes_whole_blocks(7169));
  EXPECT_EQ(capacity_for(7169), 2 * block_bytes);
}

TEST(SizeClasses, classes_ascend) {
  EXPECT_TRUE(std::ranges::is_sorted(size_classes, {}, &SizeClass::object_bytes));
  EXPECT_EQ(size_classes.front().object_bytes, smallest_object_bytes);
}

TEST(SizeClasses, every_object_has_a_bit_and_every_bit_an_object) {
  for (const SizeClass& size_class : size_classes) {
    EXPECT_EQ(static_cast<std::uint32_t>(std::popcount(size_class.all_bits())),
              size_class.objects());
    EXPECT_TRUE(fills_its_chunk(size_class));
  }
}

}  // namespace
}  // namespace remora
