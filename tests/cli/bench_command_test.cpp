// remora bench: what it prints, and what it refuses. No time is judged.
#include <filesystem>
#include <set>

#include "tests/cli/cli_testing.h"

namespace remora {
namespace {

using testing::HasSubstr;

// A run that is soon over.
std::vector<std::string> brief(std::vector<std::string> more) {
  std::vector<std::string> command = {"bench", "--records", "100", "--ops",
                                      "300",   "--warm-up", "20"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

class Bench : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(fabrics, Bench, testing::Values("ring", "mapped", "roce", "sim"),
                         [](const testing::TestParamInfo<const char*>& param) {
                           return std::string(param.param);
                         });

TEST_P(Bench, says_what_was_run_and_what_kind_of_figure_it_is) {
  const Outcome outcome =
      remora_command(brief({"--fabric", GetParam(), "--workload", "a", "--clients", "2",
                            "--value-size", "128", "--seed", "7", "--json"}));
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at("engine"), "efactory");
  EXPECT_EQ(json.at("workload"), "a");
  EXPECT_EQ(json.at("value_size_bytes"), 128);
  EXPECT_EQ(json.at("clients"), 2);
  EXPECT_EQ(json.at("ops"), 300);
  EXPECT_EQ(json.at("seed"), 7);
  EXPECT_EQ(json.at("fabric"), GetParam());
  const bool modelled = std::string(GetParam()) == "sim";
  EXPECT_EQ(json.at("profile").is_null(), !modelled);
  EXPECT_EQ(json.at("kind"), modelled ? "modelled" : "measured");
  EXPECT_GT(json.at("ops_per_s"), 0);
  EXPECT_GT(json.at("p50_ns"), 0);
  EXPECT_LE(json.at("p50_ns"), json.at("p99_ns"));
  EXPECT_LE(json.at("p99_ns"), json.at("p999_ns"));
  EXPECT_EQ(json.at("misses"), 0);
  EXPECT_EQ(json.at("failures"), 0) << json.at("first_failure");
  const nlohmann::json& kinds = json.at("kinds");
  EXPECT_EQ(kinds.at("read").at("count").get<int>() + kinds.at("update").at("count").get<int>(),
            300);
  EXPECT_GE(json.at("counters").at("keys"), 100);
}

TEST_P(Bench, runs_every_combination_of_the_lists) {
  const Outcome outcome = remora_command(
      brief({"--fabric", GetParam(), "--workload", "c,read:1,delete:1", "--value-size", "64,4K",
             "--engine", "efactory,efactory-no-hr", "--json"}));
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  const nlohmann::json json = json_of(outcome);
  std::set<std::vector<std::string>> seen;
  for (const nlohmann::json& run : json) {
    seen.insert({run.at("engine"), run.at("workload"), run.at("value_size_bytes").dump()});
  }
  EXPECT_EQ(json.size(), 8u);
  EXPECT_EQ(seen.size(), 8u);
}

TEST_P(Bench, prints_a_table_with_a_row_for_each_run) {
  const Outcome outcome =
      remora_command(brief({"--fabric", GetParam(), "--workload", "a,b", "--depth", "3"}));
  EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("p99.9 us"));
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 3);
  EXPECT_THAT(outcome.err, HasSubstr("seed 1"));
}

TEST_P(Bench, touches_the_keys_that_the_distribution_says) {
  const auto run = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--fabric", GetParam(), "--workload", "c,d", "--json"});
    const Outcome outcome = remora_command(brief(more));
    EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
    std::vector<std::string> distributions;
    for (const nlohmann::json& one : json_of(outcome)) {
      EXPECT_EQ(one.at("failures"), 0) << one.at("first_failure");
      distributions.push_back(one.at("distribution"));
    }
    return distributions;
  };
  EXPECT_THAT(run({}), testing::ElementsAre("zipfian:0.99", "latest:0.99"));
  EXPECT_THAT(run({"--distribution", "uniform"}), testing::Each("uniform"));
  EXPECT_THAT(run({"--distribution", "latest"}), testing::Each("latest:0.99"));
  EXPECT_THAT(run({"--distribution", "zipfian:0.5"}), testing::Each("zipfian:0.5"));
}

TEST_P(Bench, takes_values_of_no_bytes) {
  const Outcome outcome = remora_command(
      brief({"--fabric", GetParam(), "--workload", "a", "--value-size", "0,0-64", "--json"}));
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at(0).at("value_size_bytes"), 0);
  EXPECT_EQ(json.at(1).at("value_size_bytes"), "0-64");
  for (const nlohmann::json& run : json) {
    EXPECT_EQ(run.at("misses"), 0);
    EXPECT_EQ(run.at("failures"), 0) << run.at("first_failure");
  }
}

TEST_P(Bench, puts_persistently_when_asked) {
  const Outcome outcome = remora_command(
      brief({"--fabric", GetParam(), "--workload", "update-only", "--durability", "persistent"}));
  EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
}

TEST(BenchModelled, a_seed_gives_the_same_output_twice) {
  const std::vector<std::string> command = brief({"--fabric", "sim", "--clients", "3", "--json"});
  EXPECT_EQ(remora_command(command).out, remora_command(command).out);
}

TEST(BenchMeasured, takes_a_file_and_leaves_none) {
  const std::string path = std::string(REMORA_DISK_FOLDER) + "/bench.pool";
  const std::vector<std::string> command =
      brief({"--fabric", "ring", "--workload", "a", "--media", "file", path, "--json"});
  const Outcome outcome = remora_command(command);
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_EQ(json_of(outcome).at("media"), "file");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(BenchMeasured, a_store_that_gets_full_is_told_of) {
  const Outcome outcome =
      remora_command({"bench", "--fabric", "ring", "--pool-size", "1M", "--records", "5000"});
  EXPECT_EQ(outcome.exit_status, environment);
  EXPECT_THAT(outcome.err, HasSubstr("remora: "));
}

TEST(BenchUsage, wrong_choices_are_refused_with_what_would_be_right) {
  expect_refusal(remora_command({"bench", "--engine", "steam"}), usage, "efactory");
  expect_refusal(remora_command({"bench", "--workload", "z"}), usage, "z");
  expect_refusal(remora_command({"bench", "--value-size", "much"}), usage, "much");
  expect_refusal(remora_command({"bench", "--value-size", "17M"}), usage, "to 16 MiB");
  expect_refusal(remora_command({"bench", "--distribution", "normal"}), usage, "latest");
  expect_refusal(remora_command({"bench", "--distribution", "uniform:0.5"}), usage, "theta");
  expect_refusal(remora_command({"bench", "--key-size", "2K"}), usage, "2K");
  expect_refusal(remora_command({"bench", "--clients", "0"}), usage, "choose 1 to");
  expect_refusal(remora_command({"bench", "--clients", "1,,2"}), usage, "choose 1 to");
  expect_refusal(remora_command({"bench", "--fabric", "pigeon"}), usage, "choose sim");
  expect_refusal(remora_command({"bench", "--durability", "hopeful"}), usage, "persistent");
  expect_refusal(remora_command({"bench", "--media", "stone"}), usage, "--media file PATH");
  expect_refusal(remora_command({"bench", "--media", "file"}), usage, "--media file PATH");
  expect_refusal(remora_command({"bench", "--fabric", "sim", "--media", "file", "/tmp/x"}), usage,
                 "--memory-profile");
  expect_refusal(remora_command({"bench", "--media", "file", REMORA_COMMAND}), usage, "exists");
  expect_refusal(remora_command({"bench", "--ops", "0"}), usage, "whole number from 1");
  expect_refusal(remora_command({"bench", "--depth", "0"}), usage, "depth");
  expect_refusal(remora_command({"bench", "--fabric", "sim", "--profile", "abacus"}), usage,
                 "abacus");
  expect_refusal(remora_command({"bench", "--pool-size", "big"}), usage, "big");
}

}  // namespace
}  // namespace remora
