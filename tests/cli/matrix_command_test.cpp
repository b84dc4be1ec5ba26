// remora matrix: one cell for each engine and platform, what it says of each, and its exit status.
#include <map>
#include <set>
#include <sstream>

#include "tests/cli/cli_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

constexpr std::size_t platforms = 12;

TEST(MatrixCommand, has_a_cell_for_every_platform_of_an_engine) {
  const Outcome outcome =
      remora_command({"matrix", "--engine", "pool", "--runs", "1", "--seed", "3", "--json"});
  EXPECT_EQ(outcome.exit_status, kept) << outcome.out;
  const nlohmann::json list = json_of(outcome);
  ASSERT_EQ(list.size(), platforms);
  std::set<std::string> seen;
  for (const nlohmann::json& cell : list) {
    EXPECT_EQ(cell.at("engine"), "pool");
    EXPECT_THAT(cell.at("promise").get<std::string>(), HasSubstr("survives"));
    EXPECT_EQ(cell.at("runs"), 1);
    EXPECT_EQ(cell.at("held"), true);
    EXPECT_TRUE(cell.at("seed").is_null());
    seen.insert(cell.at("domain").get<std::string>() + cell.at("ddio").get<std::string>() +
                cell.at("flush").get<std::string>());
  }
  EXPECT_EQ(seen.size(), platforms);
}

TEST(MatrixCommand, prints_a_table_with_a_column_for_every_engine) {
  const Outcome outcome =
      remora_command({"matrix", "--engine", "pool", "--engine", "efactory", "--runs", "1"});
  EXPECT_EQ(outcome.exit_status, kept) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("pool      efactory\n"));
  EXPECT_THAT(outcome.out, HasSubstr("dmp ddio=on  flush=platform   held      held\n"));
  EXPECT_THAT(outcome.out, HasSubstr("wsp ddio=off flush=pcie       held      held\n"));
}

TEST(MatrixCommand, a_rival_that_breaks_its_promise_is_a_finding_with_a_seed_that_replays) {
  const Outcome outcome = remora_command({"matrix", "--engine", "ca", "--runs", "4", "--json"});
  EXPECT_EQ(outcome.exit_status, kept);
  std::size_t held = 0;
  for (const nlohmann::json& cell : json_of(outcome)) {
    held += cell.at("held").get<bool>() ? 1u : 0u;
    if (!cell.at("held").get<bool>() && cell.at("domain") == "dmp" && cell.at("ddio") == "on") {
      const std::string seed = std::to_string(cell.at("seed").get<std::uint64_t>());
      const std::string flush = cell.at("flush");
      const nlohmann::json replayed =
          json_of(remora_command({"crash", "--engine", "ca", "--runs", "1", "--seed", seed,
                                  "--flush", flush, "--granularity", "cache-line", "--json"}));
      ASSERT_EQ(replayed.at("violations").size(), 1u);
      EXPECT_EQ(replayed.at("violations").at(0).at("explanation"), cell.at("explanation"));
      EXPECT_THAT(cell.at("replay").get<std::string>(), HasSubstr("--seed " + seed + " "));
    }
  }
  EXPECT_LT(held, platforms) << "client-active without persistence must be shown to lose data";
}

// What the papers say of these designs, seen: each with a line that shows it again.
TEST(MatrixCommand, shows_where_rivals_tear_step_back_and_lose) {
  const Outcome outcome =
      remora_command({"matrix", "--engine", "ca", "--engine", "erda", "--runs", "24", "--json"});
  EXPECT_EQ(outcome.exit_status, kept);
  std::map<std::string, nlohmann::json> found;
  for (const nlohmann::json& cell : json_of(outcome)) {
    ASSERT_EQ(cell.at("findings").size(), 3u);
    for (const nlohmann::json& finding : cell.at("findings")) {
      if (finding.at("found").get<bool>()) {
        found.emplace(
            cell.at("engine").get<std::string>() + " " + finding.at("question").get<std::string>(),
            finding);
      }
    }
  }
  for (const char* expected : {"ca whole", "ca persistent", "erda monotonic", "erda persistent"}) {
    ASSERT_TRUE(found.contains(expected)) << expected;
    const nlohmann::json& finding = found.at(expected);
    EXPECT_FALSE(finding.at("shown").get<std::string>().empty());
    std::istringstream line(finding.at("replay").get<std::string>());
    std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
    words.erase(words.begin());
    words.emplace_back("--json");
    const nlohmann::json replayed = json_of(remora_command(words));
    ASSERT_EQ(replayed.at("violations").size(), 1u) << finding.at("replay");
    EXPECT_EQ(replayed.at("violations").at(0).at("explanation"), finding.at("explanation"));
  }
  EXPECT_FALSE(found.contains("erda whole")) << "Erda checks what it reads";
}

TEST(MatrixCommand, tells_once_why_a_promise_was_broken_and_where) {
  const Outcome outcome = remora_command({"matrix", "--engine", "ca", "--runs", "32"});
  EXPECT_EQ(outcome.exit_status, kept);
  EXPECT_THAT(outcome.out, HasSubstr("dmp ddio=on  flush=platform   BROKEN\n"));
  EXPECT_THAT(outcome.out, HasSubstr("    BROKEN on every platform: a get "));
  EXPECT_THAT(outcome.out, HasSubstr("      by seed "));
  EXPECT_THAT(outcome.out, HasSubstr("beyond its promise:"));
  EXPECT_THAT(outcome.out, HasSubstr("whole: a get returns torn bytes"));
  EXPECT_THAT(outcome.out, HasSubstr("persistent: an acknowledged put is lost"));
  EXPECT_THAT(outcome.out, HasSubstr("      seen on every platform, by seed "));
  std::size_t replays = 0;
  for (std::size_t at = outcome.out.find("replay: "); at != outcome.out.npos;
       at = outcome.out.find("replay: ", at + 1)) {
    ++replays;
  }
  EXPECT_LE(replays, 5u) << "what is alike is told once";
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("\033")));
  EXPECT_THAT(
      remora_command({"matrix", "--engine", "pool", "--runs", "1", "--color", "always"}).out,
      HasSubstr("\033[32mheld\033[0m"));
}

TEST(MatrixCommand, refuses_what_it_does_not_know) {
  expect_refusal(remora_command({"matrix", "--engine", "steam"}), usage, "unknown engine 'steam'");
  expect_refusal(remora_command({"matrix", "--granularity", "inch"}), usage,
                 "unknown granularity 'inch'");
  expect_refusal(remora_command({"matrix", "--color", "red"}), usage, "auto, always or never");
}

}  // namespace
}  // namespace remora
