#include "kv/log/object_format.h"

#include <gtest/gtest.h>

#include <vector>

#include "kv/log/object.h"

namespace remora::kv {
namespace {

using namespace object_format;

TEST(ObjectFormat, the_value_shares_no_word_with_the_key) {
  for (std::uint64_t key_bytes = 1; key_bytes <= limits::key_bytes; ++key_bytes) {
    EXPECT_EQ(value_begin(key_bytes) % word_bytes, 0u);
    EXPECT_GE(value_begin(key_bytes), sizeof(Header) + key_bytes);
    EXPECT_LT(value_begin(key_bytes), sizeof(Header) + key_bytes + word_bytes);
  }
}

TEST(ObjectFormat, takes_whole_lines) {
  EXPECT_EQ(size_bytes(1, 0), 128u);
  EXPECT_EQ(size_bytes(8, 56), 128u);
  EXPECT_EQ(size_bytes(8, 57), 192u);
  EXPECT_EQ(largest_bytes, 64u + 1024 + (16 << 20) + 64);
}

TEST(ObjectFormat, the_checksum_depends_on_every_part) {
  const auto key = as_bytes("key");
  const auto value = as_bytes("value");
  const std::uint32_t sum = client_checksum(key, value);
  EXPECT_NE(sum, client_checksum(as_bytes("kez"), value));
  EXPECT_NE(sum, client_checksum(key, as_bytes("valuf")));
  EXPECT_NE(sum, client_checksum(as_bytes("keyv"), as_bytes("alue")));
  EXPECT_NE(object_checksum(1, sum), object_checksum(2, sum));
  EXPECT_NE(object_checksum(1, sum), object_checksum(1, sum, 2));
  EXPECT_NE(client_checksum(key, {}), client_checksum(as_bytes("ke"), {}));
}

TEST(ObjectFormat, a_state_in_which_a_byte_is_wrong_says_nothing) {
  for (const std::uint64_t flags : {std::uint64_t{0}, durable_flag, invalid_flag}) {
    const std::uint64_t word = state_word(17, flags);
    for (unsigned byte = 0; byte < 8; ++byte) {
      for (std::uint64_t change = 1; change < 256; ++change) {
        EXPECT_EQ(flags_of(word ^ change << 8 * byte, 17), 0u) << byte << " " << change;
      }
    }
  }
}

TEST(ObjectFormat, states_of_version_2_are_told_apart_and_mean_the_same) {
  for (const SegmentNumber segment : {SegmentNumber{1}, SegmentNumber{65537}, number_limit - 1}) {
    for (std::uint64_t flags = 0; flags < 4; ++flags) {
      const std::uint64_t word = state_word(segment, flags);
      EXPECT_EQ(upgraded_state(segment << 2 | flags, segment), word);
      EXPECT_EQ(upgraded_state(word, segment), word);
    }
  }
  EXPECT_EQ(flags_of(upgraded_state(18 << 2 | 1, 17), 17), 0u);
}

TEST(ObjectFormat, flags_of_another_segment_are_none) {
  const std::uint64_t word = state_word(17, durable_flag | invalid_flag);
  EXPECT_EQ(flags_of(word, 17), durable_flag | invalid_flag);
  EXPECT_EQ(flags_of(word, 18), 0u);
  EXPECT_EQ(flags_of(0, 17), 0u);
  EXPECT_EQ(flags_of(state_word(number_limit - 1, durable_flag), number_limit - 1), durable_flag);
}

TEST(ObjectFormat, a_link_comes_back_as_it_went_and_not_for_another_segment) {
  const Offset last = pool_format::largest_pool_bytes - 64;
  for (const Link& link : {Link{}, Link{64, false}, Link{last, true}, Link{last, false}}) {
    EXPECT_EQ(link_of(link_word(link, 5), 5), link);
    EXPECT_EQ(link_of(link_word(link, 5), 6), Link{});
  }
}

std::vector<std::byte> sample() {
  std::vector<std::byte> bytes(size_bytes(3, 5));
  Header header{5, 3, 1, magic, 9, 4, 0, 0, 0, 0, state_word(4, durable_flag), 0};
  header.checksum = object_checksum(9, client_checksum(as_bytes("key"), as_bytes("value")));
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + 64, "key", 3);
  std::memcpy(bytes.data() + 72, "value", 5);
  return bytes;
}

TEST(ReadObject, gives_the_parts_of_an_object) {
  const auto bytes = sample();
  const auto object = ReadObject::parse(bytes);
  ASSERT_TRUE(object);
  EXPECT_EQ(as_text(object->key), "key");
  EXPECT_EQ(as_text(object->value), "value");
  EXPECT_EQ(object->sequence, 9u);
  EXPECT_TRUE(object->durable);
  EXPECT_FALSE(object->invalid);
  EXPECT_TRUE(object->intact());
}

TEST(ReadObject, a_changed_value_is_not_intact) {
  auto bytes = sample();
  bytes[73] ^= std::byte{1};
  EXPECT_FALSE(ReadObject::parse(bytes)->intact());
}

TEST(ReadObject, never_reaches_beyond_the_bytes_that_came) {
  const auto bytes = sample();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadObject::parse(ConstBytes(bytes).first(size))) << size;
  }
  for (std::size_t at = 0; at < 8; ++at) {
    for (unsigned value = 0; value < 256; ++value) {
      auto damaged = bytes;
      damaged[at] = static_cast<std::byte>(value);
      const auto object = ReadObject::parse(damaged);
      if (object) {
        EXPECT_LE(object->value.data() + object->value.size(), damaged.data() + damaged.size());
      }
    }
  }
}

}  // namespace
}  // namespace remora::kv
