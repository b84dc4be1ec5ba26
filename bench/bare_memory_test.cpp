#include "bench/bare_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace remora::bench {
namespace {

constexpr std::size_t area_bytes = 16 * cache_line_bytes;

struct Area {
  alignas(cache_line_bytes) std::array<std::byte, area_bytes> bytes = {};
};

// Copies all but the first and the last line.
void expect_exact_copy(const BareWay& way) {
  Area from, to;
  for (std::size_t i = 0; i < area_bytes; ++i) {
    from.bytes[i] = static_cast<std::byte>(i * 7 + 1);
  }
  way.run(to.bytes.data() + cache_line_bytes, from.bytes.data() + cache_line_bytes,
          area_bytes - 2 * cache_line_bytes);
  Area expected = from;
  std::fill_n(expected.bytes.begin(), cache_line_bytes, std::byte{0});
  std::fill_n(expected.bytes.end() - cache_line_bytes, cache_line_bytes, std::byte{0});
  EXPECT_EQ(to.bytes, expected.bytes) << way.name;
}

TEST(BareMemory, every_way_to_persist_copies_what_it_should_and_no_more) {
  ASSERT_FALSE(ways_to_persist().empty());
  std::ranges::for_each(ways_to_persist(), expect_exact_copy);
}

TEST(BareMemory, every_way_to_stream_copies_what_it_should_and_no_more) {
  ASSERT_FALSE(ways_to_stream().empty());
  std::ranges::for_each(ways_to_stream(), expect_exact_copy);
}

}  // namespace
}  // namespace remora::bench
