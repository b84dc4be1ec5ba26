#include "fabric/nic/dma/streaming_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/random.h"

namespace remora::fabric::nic {
namespace {

// Every way in which a part can begin, end and lie across lines; nothing around it changes.
TEST(StreamingCopy, copies_any_part_to_any_place_and_nothing_else) {
  constexpr std::size_t most = 700;
  std::vector<std::byte> source(most);
  Random random(1);
  std::ranges::generate(source, [&] { return static_cast<std::byte>(random.next() | 1); });
  alignas(cache_line_bytes) std::array<std::byte, most + 3 * cache_line_bytes> memory;
  for (std::size_t begin = cache_line_bytes; begin < 2 * cache_line_bytes; begin += 3) {
    for (std::size_t size = 0; size <= most; ++size) {
      for (const bool last : {false, true}) {
        memory.fill({});
        copy_streaming(memory.data() + begin, ConstBytes(source).first(size), last);
        std::vector<std::byte> wanted(memory.size());
        std::copy_n(source.begin(), size, wanted.begin() + static_cast<std::ptrdiff_t>(begin));
        ASSERT_TRUE(std::ranges::equal(memory, wanted)) << begin << ", " << size << ", " << last;
      }
    }
  }
}

}  // namespace
}  // namespace remora::fabric::nic
