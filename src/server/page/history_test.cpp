#include "server/page/history.h"

#include <gtest/gtest.h>

namespace remora::server {
namespace {

std::vector<std::uint64_t> seconds_of(const History& history) {
  std::vector<std::uint64_t> seconds;
  for (const History::Sample& sample : history.samples()) {
    EXPECT_EQ(sample.values[0], static_cast<double>(sample.second));
    EXPECT_EQ(sample.values[1], -static_cast<double>(sample.second));
    seconds.push_back(sample.second);
  }
  return seconds;
}

void add_seconds(History& history, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t second = from; second < to; ++second) {
    const auto value = static_cast<double>(second);
    history.add(second, {value, -value});
  }
}

TEST(History, gives_back_what_was_added) {
  History history({"up", "down"});
  EXPECT_TRUE(history.samples().empty());
  add_seconds(history, 1000, 1025);
  const std::vector<std::uint64_t> seconds = seconds_of(history);
  ASSERT_EQ(seconds.size(), 25u);
  EXPECT_EQ(seconds.front(), 1000u);
  EXPECT_EQ(seconds.back(), 1024u);
}

TEST(History, keeps_seconds_of_five_minutes_and_tens_of_an_hour) {
  History history({"up", "down"});
  add_seconds(history, 100'000, 110'000);
  const std::vector<std::uint64_t> seconds = seconds_of(history);
  ASSERT_EQ(seconds.size(), History::seconds + History::tens - History::seconds / History::ten_s);
  EXPECT_EQ(seconds.front(), 110'000u - History::tens * History::ten_s);
  EXPECT_EQ(seconds.back(), 109'999u);
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    const std::uint64_t step = seconds[i] - seconds[i - 1];
    EXPECT_EQ(step, seconds[i] > 110'000 - History::seconds ? 1u : History::ten_s) << i;
  }
}

TEST(History, leaves_out_what_nobody_added) {
  History history({"up", "down"});
  add_seconds(history, 50, 60);
  add_seconds(history, 5000, 5003);
  const std::vector<std::uint64_t> seconds = seconds_of(history);
  EXPECT_EQ(seconds.size(), 13u);
  EXPECT_EQ(seconds[9], 59u);
  EXPECT_EQ(seconds[10], 5000u);
}

}  // namespace
}  // namespace remora::server
