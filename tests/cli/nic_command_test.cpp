// remora bench nic and remora nic info: what they print, and what they refuse. No time is judged.
#include "tests/cli/cli_testing.h"
#include "tests/support/files.h"

namespace remora {
namespace {

using testing::HasSubstr;

constexpr const char* operations[] = {"read",      "write",        "send",  "write-imm",  "cas",
                                      "fetch-add", "atomic-write", "flush", "write-flush"};

class BenchNic : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(wires, BenchNic, testing::Values("ring", "mapped", "roce", "sim"),
                         [](const testing::TestParamInfo<const char*>& param) {
                           return std::string(param.param);
                         });

TEST_P(BenchNic, runs_every_operation_and_says_what_kind_of_figure_it_is) {
  for (const char* operation : operations) {
    const Outcome outcome = remora_command({"bench", "nic", "--wire", GetParam(), "--op", operation,
                                            "--depth", "4", "--ops", "200", "--json"});
    ASSERT_EQ(outcome.exit_status, kept) << operation << ": " << outcome.err;
    const nlohmann::json json = json_of(outcome);
    EXPECT_EQ(json.at("wire"), GetParam());
    EXPECT_EQ(json.at("op"), operation);
    EXPECT_EQ(json.at("depth"), 4);
    EXPECT_EQ(json.at("kind"), std::string(GetParam()) == "sim" ? "modelled" : "measured");
    EXPECT_GT(json.at("ops_per_s"), 0);
    EXPECT_GT(json.at("bytes_per_s"), 0);
    EXPECT_GT(json.at("p50_ns"), 0);
    EXPECT_LE(json.at("p50_ns"), json.at("p99_ns"));
    EXPECT_LE(json.at("p99_ns"), json.at("p999_ns"));
    EXPECT_GT(json.at("size_bytes"), 0);
  }
}

TEST_P(BenchNic, carries_messages_larger_than_a_packet) {
  const Outcome outcome = remora_command(
      {"bench", "nic", "--wire", GetParam(), "--size", "256K", "--ops", "20", "--json"});
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_EQ(json_of(outcome).at("size_bytes"), 256 << 10);
}

TEST_P(BenchNic, prints_a_table) {
  const Outcome outcome = remora_command({"bench", "nic", "--wire", GetParam(), "--ops", "50"});
  EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("p99.9 us"));
  EXPECT_THAT(outcome.err, HasSubstr("seed 1"));
}

TEST(BenchNicSim, a_seed_gives_the_same_figures_twice) {
  const std::vector<std::string> command = {"bench", "nic", "--wire", "sim", "--op",  "read",
                                            "--ops", "100", "--seed", "9",   "--json"};
  EXPECT_EQ(remora_command(command).out, remora_command(command).out);
}

TEST(BenchNicUsage, wrong_choices_are_refused_with_what_would_be_right) {
  expect_refusal(remora_command({"bench", "nic", "--wire", "pigeon"}), usage, "choose ring");
  expect_refusal(remora_command({"bench", "nic", "--op", "frob"}), usage, "choose one of");
  expect_refusal(remora_command({"bench", "nic", "--size", "1T"}), usage, "choose a size");
  expect_refusal(remora_command({"bench", "nic", "--depth", "0"}), usage, "whole number from 1");
  expect_refusal(remora_command({"bench", "nic", "--op", "cas", "--size", "64"}), usage, "8 bytes");
  expect_refusal(remora_command({"bench", "nic", "--wire", "sim", "--profile", "abacus"}), usage,
                 "abacus");
}

TEST(NicInfo, tells_the_device_and_how_it_does_things) {
  for (const char* wire : {"ring", "mapped", "roce", "sim"}) {
    const Outcome text = remora_command({"nic", "info", "--wire", wire});
    EXPECT_EQ(text.exit_status, kept) << text.err;
    EXPECT_THAT(text.out, HasSubstr("capabilities"));
    const nlohmann::json json = json_of(remora_command({"nic", "info", "--wire", wire, "--json"}));
    EXPECT_EQ(json.at("wire"), wire);
    EXPECT_FALSE(json.at("capabilities").empty());
    for (const nlohmann::json& capability : json.at("capabilities")) {
      EXPECT_FALSE(capability.at("how").get<std::string>().empty());
    }
  }
  expect_refusal(remora_command({"nic", "info", "--wire", "pigeon"}), usage,
                 "choose ring, mapped, roce, sim or verbs");
}

TEST(NicCalibrate, writes_profiles_that_the_model_takes) {
  const TestFolder folder;
  const Outcome outcome = remora_command({"nic", "calibrate", "--json", "--out", folder.file("p")});
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  const nlohmann::json json = json_of(outcome);
  EXPECT_THAT(json.at("one_sided_work").get<std::string>(), HasSubstr("the target's processor"));
  EXPECT_GT(json.at("cpu").at("crc_ns_per_kb").at("value"), 0);
  const Outcome bench = remora_command(
      {"bench", "--fabric", "sim", "--engine", "imm", "--ops", "100", "--records", "50",
       "--profile", folder.file("p/nic.toml"), "--memory-profile", folder.file("p/memory.toml"),
       "--cpu-profile", folder.file("p/cpu.toml"), "--json"});
  EXPECT_EQ(bench.exit_status, kept) << bench.err;
  expect_refusal(remora_command({"nic", "calibrate", "--wire", "roce"}), usage, "ring");
}

TEST(NicCalibrate, sets_the_model_beside_this_machine) {
  const TestFolder folder;
  const Outcome outcome = remora_command({"nic", "calibrate", "--compare", "--rounds", "1", "--ops",
                                          "200", "--json", "--out", folder.file("p")});
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  const nlohmann::json rows = json_of(outcome).at("rows");
  EXPECT_EQ(rows.size(), 16u);
  for (const nlohmann::json& row : rows) {
    EXPECT_GT(row.at("modelled_p50_ns"), 0);
    EXPECT_EQ(row.at("foretold").get<bool>(), row.at("lacking").get<std::string>().empty());
  }
}

// With a device this is one more wire; without, the refusal says how to get one.
TEST(NicVerbs, is_used_where_there_is_a_device_and_refused_with_what_to_do_elsewhere) {
  const nlohmann::json known = json_of(remora_command({"nic", "info", "--json"}));
  const Outcome info = remora_command({"nic", "info", "--wire", "verbs"});
  const Outcome bench = remora_command({"bench", "nic", "--wire", "verbs", "--ops", "50"});
  if (known.at("verbs_devices").empty()) {
    expect_refusal(info, environment, "modprobe rdma_rxe");
    expect_refusal(bench, environment, "modprobe rdma_rxe");
    expect_refusal(
        remora_command({"bench", "nic", "--wire", "verbs:mlx5_0", "--listen", "127.0.0.1:0"}),
        environment, "rdma link add");
    return;
  }
  EXPECT_EQ(info.exit_status, kept) << info.err;
  EXPECT_THAT(info.out, HasSubstr("flush to persistence"));
  EXPECT_EQ(bench.exit_status, kept) << bench.err;
  expect_refusal(remora_command({"nic", "info", "--wire", "verbs:no-such-device"}), usage,
                 "there is no RDMA device 'no-such-device'");
}

TEST(NicVerbs, another_machine_is_for_verbs_alone) {
  expect_refusal(remora_command({"bench", "nic", "--wire", "ring", "--target", "127.0.0.1:1"}),
                 usage, "need --wire verbs");
  expect_refusal(remora_command({"nic", "info", "--wire", "verbs:"}), usage, "choose ring");
  expect_refusal(remora_command({"explain", "--wire", "verbs"}), usage, "needs --pool");
}

}  // namespace
}  // namespace remora
