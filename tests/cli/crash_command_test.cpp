// remora crash: what it prints, that a seed is all it takes to see the same again, and that planted
// bugs are caught.
#include <algorithm>
#include <sstream>

#include "tests/cli/cli_testing.h"

namespace remora {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

// Caught by nearly every seed.
constexpr const char* coarse_bug = "pool-record-not-flushed";

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// Runs a line that the command printed: "remora crash ...".
Outcome follow(const std::string& line, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = words_of(line);
  EXPECT_EQ(words.at(0), "remora");
  words.erase(words.begin());
  words.insert(words.end(), more.begin(), more.end());
  return remora_command(words);
}

TEST(CrashCommand, tells_in_text_that_the_promise_was_kept) {
  const Outcome outcome = remora_command({"crash", "--engine", "pool", "--runs", "3"});
  EXPECT_EQ(outcome.exit_status, kept) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("3 runs, "));
  EXPECT_THAT(outcome.out, HasSubstr("promise kept: "));
  EXPECT_THAT(outcome.err, HasSubstr("engine pool, seed 1, runs 3, domain dmp"));
}

TEST(CrashCommand, json_names_the_seed_and_every_option) {
  const Outcome outcome =
      remora_command({"crash", "--runs", "9", "--seed", "7", "--domain", "mhp", "--ddio", "off",
                      "--flush", "pcie", "--granularity", "cache-line", "--json"});
  EXPECT_EQ(outcome.exit_status, kept);
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at("engine"), "pool");
  EXPECT_EQ(json.at("seed"), 7);
  EXPECT_EQ(json.at("runs"), 9);
  EXPECT_GT(json.at("cuts"), 0);
  EXPECT_GE(json.at("images"), json.at("cuts"));
  EXPECT_EQ(json.at("violations"), nlohmann::json::array());
  EXPECT_EQ(json.at("domain"), "mhp");
  EXPECT_EQ(json.at("ddio"), "off");
  EXPECT_EQ(json.at("flush"), "pcie");
  EXPECT_EQ(json.at("granularity"), "cache-line");
  EXPECT_EQ(json.at("plant"), "");
}

TEST(CrashCommand, the_same_seed_gives_the_same_output_whatever_the_threads) {
  for (const std::string plant : {"", coarse_bug}) {
    SCOPED_TRACE(plant);
    std::vector<std::string> words = {"crash", "--runs", "12", "--seed", "5", "--json"};
    if (!plant.empty()) {
      words.insert(words.end(), {"--plant", plant});
    }
    const std::string first = remora_command(words).out;
    EXPECT_EQ(remora_command(words).out, first);
    for (const char* threads : {"1", "3"}) {
      std::vector<std::string> threaded = words;
      threaded.insert(threaded.end(), {"--threads", threads});
      EXPECT_EQ(remora_command(threaded).out, first) << threads << " threads";
    }
  }
}

TEST(CrashCommand, another_seed_gives_another_run) {
  const nlohmann::json one = json_of(remora_command({"crash", "--runs", "2", "--json"}));
  const nlohmann::json two =
      json_of(remora_command({"crash", "--runs", "2", "--seed", "2", "--json"}));
  EXPECT_NE(one.at("images"), two.at("images"));
}

TEST(CrashCommand, a_planted_bug_is_caught_and_its_replay_shows_the_same) {
  const Outcome outcome = remora_command({"crash", "--runs", "8", "--seed", "100", "--domain",
                                          "dmp", "--plant", coarse_bug, "--json"});
  EXPECT_EQ(outcome.exit_status, broken);
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at("plant"), coarse_bug);
  ASSERT_FALSE(json.at("violations").empty());
  // The last one, so that a run that depends on those before it is noticed.
  const nlohmann::json violation = json.at("violations").back();
  const Outcome replayed = follow(violation.at("replay"), {"--json"});
  EXPECT_EQ(replayed.exit_status, broken);
  EXPECT_EQ(json_of(replayed).at("violations"), nlohmann::json::array({violation}));
}

TEST(CrashCommand, text_tells_how_to_replay_with_every_option_that_matters) {
  const Outcome outcome = remora_command(
      {"crash", "--runs", "8", "--granularity", "page", "--ddio", "off", "--plant", coarse_bug});
  EXPECT_EQ(outcome.exit_status, broken);
  EXPECT_THAT(outcome.out, HasSubstr("promise BROKEN: "));
  const std::string mark = "    replay: ";
  const std::size_t at = outcome.out.find(mark);
  ASSERT_NE(at, std::string::npos) << outcome.out;
  const std::size_t start = at + mark.size();
  const std::string replay = outcome.out.substr(start, outcome.out.find('\n', start) - start);
  EXPECT_THAT(replay, HasSubstr("--runs 1 --seed "));
  EXPECT_THAT(replay, HasSubstr("--ddio off --granularity page --plant "));
  const Outcome replayed = follow(replay);
  EXPECT_EQ(replayed.exit_status, broken);
  EXPECT_THAT(replayed.out, HasSubstr("promise BROKEN: "));
  // The violation and how to replay it are told in the same words.
  const std::size_t line = outcome.out.rfind('\n', at - 1) + 1;
  EXPECT_THAT(replayed.out, HasSubstr(outcome.out.substr(line, start + replay.size() - line)));
}

TEST(CrashCommand, lists_the_bugs_that_can_be_planted) {
  const Outcome text = remora_command({"crash", "--list-plants"});
  EXPECT_EQ(text.exit_status, kept);
  EXPECT_EQ(text.err, "");
  const nlohmann::json json = json_of(remora_command({"crash", "--list-plants", "--json"}));
  EXPECT_GT(json.size(), 10u);
  EXPECT_EQ(std::ranges::count(text.out, '\n'), static_cast<std::ptrdiff_t>(json.size()));
  for (const nlohmann::json& plant : json) {
    EXPECT_THAT(text.out, HasSubstr(plant.at("name").get<std::string>() + " "));
    EXPECT_THAT(text.out, HasSubstr(plant.at("what").get<std::string>() + "\n"));
  }
}

TEST(CrashCommand, every_listed_bug_can_be_planted) {
  const nlohmann::json json = json_of(remora_command({"crash", "--list-plants", "--json"}));
  for (const nlohmann::json& plant : json) {
    const std::string name = plant.at("name");
    const Outcome outcome = remora_command({"crash", "--runs", "1", "--plant", name, "--json"});
    EXPECT_EQ(json_of(outcome).at("plant"), name);
    EXPECT_EQ(outcome.exit_status, json_of(outcome).at("violations").empty() ? kept : broken);
  }
}

TEST(CrashCommand, holds_a_store_engine_to_its_promise) {
  const Outcome outcome =
      remora_command({"crash", "--engine", "efactory", "--runs", "3", "--json"});
  EXPECT_EQ(outcome.exit_status, kept) << outcome.out;
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at("engine"), "efactory");
  EXPECT_GT(json.at("cuts"), 0);
  EXPECT_EQ(json.at("violations"), nlohmann::json::array());
}

TEST(CrashCommand, a_bug_planted_in_a_store_engine_is_replayed_by_its_seed) {
  const Outcome outcome = remora_command({"crash", "--engine", "efactory", "--runs", "12",
                                          "--plant", "efactory-durable-from-start", "--json"});
  EXPECT_EQ(outcome.exit_status, broken);
  const nlohmann::json violations = json_of(outcome).at("violations");
  ASSERT_FALSE(violations.empty());
  const Outcome replayed = follow(violations.back().at("replay"), {"--json"});
  EXPECT_EQ(replayed.exit_status, broken);
  EXPECT_EQ(json_of(replayed).at("violations"), nlohmann::json::array({violations.back()}));
}

// A few runs cannot kill every mutant; the whole proof is a test of its own, beside the engine.
TEST(CrashCommand, mutants_are_counted) {
  const Outcome outcome = remora_command({"crash", "--mutants", "--runs", "4", "--json"});
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at("engine"), "pool");
  EXPECT_EQ(json.at("seed"), 1);
  EXPECT_GT(json.at("sites"), 5);
  const std::size_t sites = json.at("sites");
  const std::size_t killed = json.at("killed");
  EXPECT_EQ(killed + json.at("survivors").size(), sites);
  EXPECT_EQ(json.at("violations"), nlohmann::json::array());
  EXPECT_EQ(outcome.exit_status, killed == sites ? kept : broken);
  for (const nlohmann::json& survivor : json.at("survivors")) {
    EXPECT_TRUE(survivor.at("site").is_string());
    EXPECT_EQ(survivor.at("runs"), 8);  // on lines and on pages
  }
}

TEST(CrashCommand, refuses_to_mute_the_calls_of_who_answers_for_none) {
  expect_refusal(remora_command({"crash", "--engine", "expiry", "--mutants"}), usage,
                 "expiry answers for no persist calls");
}

TEST(CrashCommand, holds_a_store_to_another_promise_when_told_to) {
  const Outcome outcome = remora_command(
      {"crash", "--engine", "ca", "--runs", "8", "--hold-to", "persistent", "--json"});
  EXPECT_EQ(outcome.exit_status, broken);
  EXPECT_EQ(json_of(outcome).at("hold_to"), "persistent");
  expect_refusal(remora_command({"crash", "--engine", "ca", "--hold-to", "steam"}), usage,
                 "unknown promise 'steam'");
  expect_refusal(remora_command({"crash", "--hold-to", "whole"}), usage,
                 "only a store can be held to another promise");
}

TEST(CrashCommand, lists_what_it_can_be_asked_of) {
  const Outcome list = remora_command({"crash", "--engine"});
  EXPECT_EQ(list.exit_status, kept);
  const Outcome unknown = remora_command({"crash", "--engine", "steam"});
  const Outcome help = remora_command({"crash", "--help"});
  for (const nlohmann::json& system : json_of(remora_command({"systems", "--json"}))) {
    const std::string name = system.at("name");
    if (system.at("kind") == "rpc design") {
      EXPECT_THAT(list.out, Not(HasSubstr("\n" + name + " ")))
          << "no power cut holds it to anything";
      continue;
    }
    EXPECT_THAT(list.out, HasSubstr(name + " "));
    EXPECT_THAT(unknown.err, HasSubstr(name));
    EXPECT_THAT(help.out, HasSubstr(name));
  }
  for (const char* name : {"pool", "log", "expiry", "efactory", "erda"}) {
    EXPECT_THAT(list.out, HasSubstr(name));
  }
}

TEST(CrashCommand, holds_the_log_and_keys_that_expire_to_their_promises) {
  for (const char* engine : {"log", "expiry"}) {
    SCOPED_TRACE(engine);
    const nlohmann::json quiet =
        json_of(remora_command({"crash", "--engine", engine, "--runs", "8", "--json"}));
    EXPECT_EQ(quiet.at("violations"), nlohmann::json::array());
    EXPECT_GT(quiet.at("cuts"), 0);
    expect_refusal(remora_command({"crash", "--engine", engine, "--hold-to", "whole"}), usage,
                   "only a store can be held to another promise");
  }
  const Outcome planted =
      remora_command({"crash", "--engine", "expiry", "--plant", "efactory-clean-forgets-time",
                      "--runs", "200", "--most-violations", "1", "--json"});
  EXPECT_EQ(planted.exit_status, broken);
  const nlohmann::json violations = json_of(planted).at("violations");
  ASSERT_FALSE(violations.empty());
  const Outcome replayed = follow(violations.back().at("replay"), {"--json"});
  EXPECT_EQ(json_of(replayed).at("violations"), nlohmann::json::array({violations.back()}));
}

TEST(SystemsCommand, tells_what_each_system_is) {
  const nlohmann::json stores = json_of(remora_command({"systems", "--kind", "store", "--json"}));
  const Outcome names = remora_command({"systems", "--kind", "store", "--names"});
  std::string expected;
  for (const nlohmann::json& store : stores) {
    expected += store.at("name").get<std::string>() + "\n";
    EXPECT_EQ(store.at("kind"), "store");
    EXPECT_FALSE(store.at("paper").get<std::string>().empty());
    EXPECT_FALSE(store.at("counters").empty());
  }
  EXPECT_EQ(names.out, expected);
  EXPECT_THAT(remora_command({"systems"}).out, ContainsRegex("\nerda +store +rival   "));
}

}  // namespace
}  // namespace remora
