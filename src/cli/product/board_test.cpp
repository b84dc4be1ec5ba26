// What top shows, from facts; and what their numbers are.
#include "cli/product/board.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/product/stat.h"

namespace remora::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Facts facts_at(std::uint64_t ms, std::uint64_t commands, std::uint64_t keys) {
  return {{"pid", "7"},
          {"uptime_s", std::to_string(ms / 1000)},
          {"uptime_ms", std::to_string(ms)},
          {"engine", "efactory"},
          {"health", "ok"},
          {"failure", "none"},
          {"acknowledged_put", "an acknowledged put is visible at once"},
          {"pool", "data/a.pool"},
          {"pool_bytes", "67108864"},
          {"keys", std::to_string(keys)},
          {"live_bytes", "768"},
          {"usable_bytes", "1024"},
          {"rounds", "3"},
          {"something_new", "5"},
          {"failed_requests", "0"},
          {"redis_commands", std::to_string(commands)}};
}

const Screen plain{.width = 80, .has_blocks = true};

std::string line_with(const std::string& text, const std::string& what) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(what) != line.npos) {
      return line;
    }
  }
  return "none";
}

TEST(Board, shows_rates_of_what_grows_and_of_nothing_else) {
  Board board;
  board.add(facts_at(1000, 100, 10));
  EXPECT_EQ(line_with(board.draw(plain, Paint()), "Redis commands"),
            "Redis commands" + std::string(14, ' ') + "         100" + std::string(13, ' '));
  board.add(facts_at(3000, 3100, 500));
  const std::string text = board.draw(plain, Paint());
  EXPECT_THAT(line_with(text, "Redis commands"), HasSubstr("       3,100     1.50 k  "));
  EXPECT_THAT(line_with(text, "Redis commands"), HasSubstr("█"));
  EXPECT_THAT(line_with(text, "keys   "), HasSubstr(" 500            "));
}

TEST(Board, shows_how_much_is_full) {
  Board board;
  board.add(facts_at(1000, 0, 0));
  const std::string text = line_with(board.draw(plain, Paint()), "keys and values");
  EXPECT_THAT(text, HasSubstr("       768 B     75.0 %  "));
  EXPECT_THAT(text, HasSubstr("░ of 1 KiB"));
  EXPECT_EQ(columns_of(text), 80u);
  const std::string coloured = board.draw(plain, Paint(true));
  EXPECT_THAT(line_with(coloured, "keys and values"), HasSubstr("\033[33m"));
}

TEST(Board, tells_of_trouble_first_and_of_nothing_where_there_is_none) {
  Board board;
  Facts facts = facts_at(1000, 0, 0);
  board.add(facts);
  EXPECT_THAT(board.draw(plain, Paint()), Not(HasSubstr("trouble")));
  facts = facts_at(2000, 0, 0);
  for (Fact& fact : facts) {
    fact.value = fact.name == "failed_requests" ? "4" : fact.value;
  }
  board.add(facts);
  const std::string text = board.draw(plain, Paint());
  EXPECT_LT(text.find("requests that failed"), text.find("Redis commands"));
  EXPECT_THAT(board.draw(plain, Paint(true)), HasSubstr("\033[1;31m"));
}

TEST(Board, begins_again_with_a_server_that_was_started_again) {
  Board board;
  board.add(facts_at(90'000, 5000, 10));
  board.lose("nobody answers");
  EXPECT_THAT(board.draw(plain, Paint()), HasSubstr("no answer\n"));
  EXPECT_THAT(board.draw(plain, Paint()), HasSubstr("\nnobody answers\n"));
  Facts facts = facts_at(1000, 7, 10);
  facts[0].value = "8";
  board.add(facts);
  const std::string text = board.draw(plain, Paint());
  EXPECT_THAT(text, HasSubstr("started again"));
  EXPECT_THAT(text, HasSubstr("serving\n"));
  EXPECT_EQ(line_with(text, "Redis commands").find_last_not_of(' '), 39u) << "no rate yet";
}

TEST(Board, says_that_a_store_has_failed) {
  Board board;
  Facts facts = facts_at(1000, 0, 0);
  facts[4].value = "failed";
  facts[5].value = "the disk is gone";
  board.add(facts);
  EXPECT_THAT(board.draw(plain, Paint()),
              HasSubstr("\nnothing becomes persistent any more: the disk is gone\n"));
}

TEST(Board, fits_every_terminal) {
  Board board;
  for (std::uint64_t i = 1; i < 300; ++i) {
    board.add(facts_at(i * 1000, i * i, i));
  }
  for (const std::size_t width : {40u, 60u, 80u, 100u, 139u, 140u, 160u, 200u}) {
    for (const bool has_blocks : {false, true}) {
      for (const bool colour : {false, true}) {
        const Screen screen{.width = width, .height = 12, .has_blocks = has_blocks};
        std::istringstream lines(board.draw(screen, Paint(colour)));
        std::size_t count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
          EXPECT_LE(columns_of(line), width) << line;
        }
        EXPECT_LE(count, 11u);
      }
    }
  }
}

TEST(Stat, groups_numbers_and_names_facts_as_they_are_asked_for) {
  const std::string text = shown_facts(facts_at(10'000, 5000, 12'345), Paint());
  const auto has = [&](const std::string& line) {
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
  };
  EXPECT_THAT(text, testing::StartsWith("store\n"));
  has(fmt::format("  {:<22}  efactory", "engine"));
  has(fmt::format("  {:<22}  10 s", "uptime_s"));
  has(fmt::format("  {:<22}{:>14}{:>12}", "redis_commands", "5,000", "500"));
  has(fmt::format("  {:<22}{:>14}", "keys", "12,345"));
  has(fmt::format("  {:<22}{:>14}{:>12}  75.0 % of 1 KiB", "live_bytes", "768 B", ""));
  has(fmt::format("  {:<22}{:>14}{:>12}", "rounds", "3", "0.3"));
  has(fmt::format("  {:<22}{:>14}", "something_new", "5"));
}

}  // namespace
}  // namespace remora::cli
