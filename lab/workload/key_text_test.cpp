#include "lab/workload/key_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace remora::workload {
namespace {

using testing::HasSubstr;

std::string text_of(const KeyTexts& keys, std::uint64_t number) {
  KeyBuffer buffer;
  return std::string(keys.text_of(number, buffer));
}

void expect_unique(const KeyTexts& keys, std::uint64_t count) {
  std::set<std::string> seen;
  for (std::uint64_t number = 0; number < count; ++number) {
    const std::string text = text_of(keys, number);
    ASSERT_GE(text.size(), keys.sizes().low_bytes);
    ASSERT_LE(text.size(), keys.sizes().high_bytes);
    ASSERT_TRUE(seen.insert(text).second) << number << " " << text;
  }
}

TEST(KeyTexts, are_unique_at_every_size_that_holds_them) {
  for (const std::uint64_t size : {1u, 2u, 3u, 8u, 10u, 11u, 12u, 24u, 1024u}) {
    const KeyTexts keys({size, size});
    expect_unique(keys, std::min<std::uint64_t>(keys.capacity(), 5'000));
  }
}

TEST(KeyTexts, are_unique_in_a_range_of_sizes) {
  expect_unique(KeyTexts({2, 9}), 4'096);
  expect_unique(KeyTexts({8, 64}), 5'000);
}

TEST(KeyTexts, are_unique_among_the_largest_numbers) {
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(seen.insert(text_of(KeyTexts({16, 16}), ~i)).second);
  }
}

TEST(KeyTexts, grow_beyond_their_size_rather_than_repeat) {
  const KeyTexts keys({1, 1});
  EXPECT_EQ(keys.capacity(), 64u);
  std::set<std::string> seen;
  for (std::uint64_t number = 0; number < 5'000; ++number) {
    const std::string text = text_of(keys, number);
    EXPECT_EQ(text.size(), number < 64 ? 1u : number < 4'096 ? 2u : 3u);
    EXPECT_TRUE(seen.insert(text).second) << number;
  }
}

TEST(KeyTexts, use_every_size_of_a_range_alike) {
  const KeyTexts keys({10, 19});
  int by_size[10] = {};
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    ++by_size[text_of(keys, number).size() - 10];
  }
  for (const int count : by_size) {
    EXPECT_NEAR(count, 1'000, 150);
  }
}

TEST(KeyTexts, put_neighbours_far_apart) {
  const KeyTexts keys({16, 16});
  std::set<char> first_letters;
  for (std::uint64_t number = 0; number < 1'000; ++number) {
    first_letters.insert(text_of(keys, number)[0]);
  }
  EXPECT_GE(first_letters.size(), 15u);  // 64 bits in 11 digits: the first has 4 bits
}

// What a store was filled with is read by runs of another day.
TEST(KeyTexts, stay_the_same_for_ever) {
  EXPECT_EQ(text_of(KeyTexts({8, 8}), 1), "l2pjyMoM");
  EXPECT_EQ(text_of(KeyTexts({24, 24}), 1), "6nWdqloqwXF6nWdqloqwXF6n");
}

TEST(KeyTexts, are_parsed_from_sizes_and_ranges) {
  EXPECT_EQ(KeyTexts::parse("16")->sizes(), (SizeRange{16, 16}));
  EXPECT_EQ(KeyTexts::parse("8-64")->sizes(), (SizeRange{8, 64}));
  EXPECT_EQ(KeyTexts::parse("1K")->sizes(), (SizeRange{1024, 1024}));
  EXPECT_EQ(KeyTexts::parse("8-64")->to_string(), "8-64");
}

TEST(KeyTexts, refuse_what_is_no_size_and_say_what_is) {
  for (const std::string_view text : {"", "0", "0-4", "1025", "8-2000", "64-8", "8-", "-8", "x"}) {
    const Result<KeyTexts> keys = KeyTexts::parse(text);
    ASSERT_FALSE(keys.ok()) << text;
    EXPECT_EQ(keys.code(), Code::invalid_argument);
    EXPECT_THAT(std::string(keys.status().message()), HasSubstr("write 16 or 8-64")) << text;
  }
}

}  // namespace
}  // namespace remora::workload
