#include "lab/workload/value_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "lab/workload/chi_square.h"

namespace remora::workload {
namespace {

using testing::HasSubstr;

std::map<std::uint64_t, std::uint64_t> count_sizes(std::string_view text, std::uint64_t seed,
                                                   int draws) {
  const Result<ValueSizes> sizes = ValueSizes::parse(text);
  EXPECT_TRUE(sizes.ok()) << sizes.status().message();
  Random random(seed);
  std::map<std::uint64_t, std::uint64_t> counts;
  for (int i = 0; i < draws; ++i) {
    ++counts[sizes->draw(random)];
  }
  return counts;
}

TEST(ValueSizes, a_number_is_every_size) {
  const auto counts = count_sizes("100", 1, 1'000);
  EXPECT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts.begin()->first, 100u);
  EXPECT_EQ(count_sizes("4K", 1, 10).begin()->first, 4096u);
  EXPECT_EQ(count_sizes("0", 1, 10).begin()->first, 0u);
}

TEST(ValueSizes, a_range_is_uniform_with_both_ends) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto counts = count_sizes("64-163", seed, 50'000);
    EXPECT_EQ(counts.begin()->first, 64u);
    EXPECT_EQ(counts.rbegin()->first, 163u);
    std::vector<std::uint64_t> seen;
    for (const auto& [size, count] : counts) {
      seen.push_back(count);
    }
    EXPECT_LT(std::abs(excess_of(seen, std::vector<double>(seen.size(), 0.01))), 5) << seed;
  }
}

TEST(ValueSizes, a_list_follows_its_weights_whatever_their_sum) {
  for (const std::string_view text : {"64:0.2,100-101:0.5,4096:0.3", "64:2,100-101:5,4096:3"}) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      auto counts = count_sizes(text, seed, 50'000);
      ASSERT_EQ(counts.size(), 4u);
      EXPECT_LT(std::abs(excess_of({counts[64], counts[100], counts[101], counts[4096]},
                                   {0.2, 0.25, 0.25, 0.3})),
                5)
          << seed;
    }
  }
}

TEST(ValueSizes, a_weight_of_zero_is_never_drawn) {
  EXPECT_EQ(count_sizes("64:0,100:1,4096:0", 1, 10'000).size(), 1u);
}

TEST(ValueSizes, zipf_has_small_ones_most) {
  const auto counts = count_sizes("zipf:64-4096", 3, 100'000);
  EXPECT_EQ(counts.begin()->first, 64u);
  EXPECT_LE(counts.rbegin()->first, 4096u);
  const double share = 1 / zeta(4033, default_theta);
  EXPECT_NEAR(static_cast<double>(counts.begin()->second), share * 100'000, 500);
  EXPECT_GT(counts.at(64), counts.at(65));
  EXPECT_GT(counts.at(65), counts.at(100));
}

TEST(ValueSizes, a_key_keeps_its_size) {
  const ValueSizes sizes = std::move(ValueSizes::parse("64-4096")).value();
  EXPECT_EQ(sizes.of_key(7), sizes.of_key(7));
  EXPECT_NE(sizes.of_key(7), sizes.of_key(8));
}

TEST(ValueSizes, know_their_bounds) {
  const ValueSizes sizes = std::move(ValueSizes::parse("100:1,8-4096:2,50:1")).value();
  EXPECT_EQ(sizes.smallest_bytes(), 8u);
  EXPECT_EQ(sizes.largest_bytes(), 4096u);
}

TEST(ValueSizes, are_read_back_from_their_text) {
  for (const std::string_view text :
       {"100", "64-4096", "zipf:64-4096", "64:0.5,4096:0.5", "64:0.25,100-200:0.75"}) {
    EXPECT_EQ(ValueSizes::parse(text)->to_string(), text);
  }
}

TEST(ValueSizes, are_those_that_a_store_takes) {
  EXPECT_EQ(ValueSizes::parse("0-16M")->largest_bytes(), kv::limits::value_bytes);
  EXPECT_EQ(ValueSizes::parse("0-16M")->smallest_bytes(), 0u);
  EXPECT_THAT(std::string(ValueSizes::parse("17M").status().message()),
              HasSubstr("from 0 B to 16 MiB"));
}

TEST(ValueSizes, refuse_what_has_no_meaning_and_say_what_has) {
  for (const std::string_view text :
       {"", "-1", "2G", "17M", "64-", "4096-64", "64,4096", "64:0.5,4096", "64:-1", "64:x",
        "64:nan", "64:inf", "64:0,4096:0", "64:0.5,", "zipf:", "zipf:4-0", "zipf",
        "1:1,1:1,1:1,1:1,1:1,1:1,"
        "1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1"}) {
    const Result<ValueSizes> sizes = ValueSizes::parse(text);
    ASSERT_FALSE(sizes.ok()) << text;
    EXPECT_EQ(sizes.code(), Code::invalid_argument);
    EXPECT_THAT(std::string(sizes.status().message()), HasSubstr("64:0.5,4096:0.5")) << text;
  }
}

}  // namespace
}  // namespace remora::workload
