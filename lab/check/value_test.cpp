#include "lab/check/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace remora {
namespace {

using testing::HasSubstr;

constexpr std::size_t sizes[] = {24, 25, 31, 32, 40, 64, 100, 1000, 4096};

void copy_part(std::vector<std::byte>& to, const std::vector<std::byte>& from, std::size_t begin,
               std::size_t end) {
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(begin),
            from.begin() + static_cast<std::ptrdiff_t>(end),
            to.begin() + static_cast<std::ptrdiff_t>(begin));
}

TEST(Value, is_recognised_at_every_size) {
  for (const std::size_t size : sizes) {
    const Identity identity = identify(value_for("key", 77, size));
    EXPECT_EQ(identity.wholeness, Wholeness::whole) << size;
    EXPECT_EQ(identity.value, describe_value("key", 77, size));
    EXPECT_EQ(identity.value.id, 77u);
    EXPECT_EQ(identity.hash_of_key, key_hash("key"));
    EXPECT_EQ(identity.note, "");
  }
}

TEST(Value, names_the_key_it_was_written_for) {
  const Identity identity = identify(value_for("other", 77, 64));
  EXPECT_EQ(identity.wholeness, Wholeness::whole);
  EXPECT_NE(identity.hash_of_key, key_hash("key"));
  EXPECT_EQ(identity.hash_of_key, key_hash("other"));
}

TEST(Value, is_torn_when_any_word_is_of_another_put) {
  const auto other = value_for("key", 2, 100);
  for (std::size_t at = 0; at + word_bytes <= 96; at += word_bytes) {
    auto bytes = value_for("key", 1, 100);
    copy_part(bytes, other, at, at + word_bytes);
    // The second word names the key and is the same in both.
    EXPECT_EQ(identify(bytes).wholeness, at == word_bytes ? Wholeness::whole : Wholeness::torn)
        << at;
  }
}

TEST(Value, is_torn_when_any_word_was_lost) {
  for (std::size_t at = 0; at < 64; at += word_bytes) {
    auto bytes = value_for("key", 1, 64);
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), word_bytes, std::byte{0});
    EXPECT_NE(identify(bytes).wholeness, Wholeness::whole) << at;
  }
}

TEST(Value, is_torn_when_a_word_was_moved) {
  auto bytes = value_for("key", 1, 64);
  std::swap_ranges(bytes.begin() + 32, bytes.begin() + 40, bytes.begin() + 48);
  EXPECT_EQ(identify(bytes).wholeness, Wholeness::torn);
}

TEST(Value, is_torn_when_the_tail_is_of_another_put) {
  auto bytes = value_for("key", 1, 68);
  copy_part(bytes, value_for("key", 2, 68), 64, 68);
  EXPECT_EQ(identify(bytes).wholeness, Wholeness::torn);
}

TEST(Value, is_torn_when_cut_short_or_drawn_out) {
  auto bytes = value_for("key", 1, 64);
  for (const std::size_t size : {16u, 17u, 24u, 56u, 63u, 65u, 128u}) {
    auto other = bytes;
    other.resize(size);
    EXPECT_EQ(identify(other).wholeness, Wholeness::torn) << size;
  }
}

TEST(Value, tells_the_pieces_of_a_torn_one) {
  auto bytes = value_for("key", 11, 64);
  copy_part(bytes, value_for("key", 12, 64), 32, 48);
  std::fill_n(bytes.begin() + 48, 16, std::byte{0});
  EXPECT_EQ(identify(bytes).note,
            "bytes 0..32 of value 11, bytes 32..48 of value 12, bytes 48..64 are zero");
}

TEST(Value, is_foreign_when_nobody_wrote_it) {
  EXPECT_EQ(identify({}).wholeness, Wholeness::foreign);
  EXPECT_EQ(identify(as_bytes("short")).wholeness, Wholeness::foreign);
  EXPECT_EQ(identify(std::vector<std::byte>(64)).wholeness, Wholeness::foreign);
  EXPECT_EQ(identify(as_bytes("bytes of a log header, of an index, of another program")).wholeness,
            Wholeness::foreign);
  EXPECT_THAT(identify(std::vector<std::byte>(64)).note, HasSubstr("not a value"));
}

TEST(ValueDeathTest, must_have_room_to_say_who_wrote_it) {
  EXPECT_DEATH(value_for("key", 1, 23), "too small");
}

}  // namespace
}  // namespace remora
