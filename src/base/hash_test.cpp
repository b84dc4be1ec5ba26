#include "base/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace remora {
namespace {

TEST(Hash, gives_the_known_answers_of_xxh3) {
  EXPECT_EQ(hash64({}), 0x2D06800538D394C2u);
  EXPECT_EQ(hash64(as_bytes("abc")), 0x78AF5F94892F3950u);
}

TEST(Hash, does_not_depend_on_alignment) {
  const std::string text = "a key of some forty bytes, at any address";
  for (std::size_t shift = 0; shift < 16; ++shift) {
    const std::string shifted = std::string(shift, '-') + text;
    EXPECT_EQ(hash64(as_bytes(shifted).subspan(shift)), hash64(as_bytes(text)));
  }
}

TEST(Hash, differs_by_seed_by_length_and_by_every_byte) {
  std::set<std::uint64_t> seen;
  std::string text(300, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) {
    seen.insert(hash64(as_bytes(text).first(i)));
    seen.insert(hash64(as_bytes(text), i + 1));
    text[i] = 'y';
    seen.insert(hash64(as_bytes(text)));
    text[i] = 'x';
  }
  EXPECT_EQ(seen.size(), 3 * text.size());
}

TEST(Hash, spreads_counters_over_all_shards) {
  constexpr std::size_t shards = 16;
  std::size_t in_shard[shards] = {};
  for (std::uint64_t key = 0; key < 16'000; ++key) {
    ++in_shard[hash64(object_bytes(key)) % shards];
  }
  for (std::size_t count : in_shard) {
    EXPECT_GT(count, 800u);
    EXPECT_LT(count, 1'200u);
  }
}

}  // namespace
}  // namespace remora
