// remora figures: verdicts, pictures and a page. No verdict is demanded: that is for the model.
#include <filesystem>

#include "tests/cli/cli_testing.h"
#include "tests/support/files.h"

namespace remora {
namespace {

using testing::HasSubstr;

TEST(Figures, judges_each_claim_and_draws_each_figure) {
  const TestFolder folder;
  const Outcome outcome = remora_command({"figures", "efactory-2", "--ops", "200", "--records",
                                          "50", "--json", "--out", folder.file("out")});
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  const nlohmann::json json = json_of(outcome);
  ASSERT_EQ(json.size(), 2u);
  for (const nlohmann::json& judged : json) {
    EXPECT_TRUE(judged.at("modelled").is_number());
    EXPECT_THAT(judged.at("verdict").get<std::string>(),
                testing::AnyOf("within", "beyond", "short"));
    EXPECT_FALSE(judged.at("reason").get<std::string>().empty());
  }
  for (const char* name :
       {"index.html", "efactory-2.csv", "efactory-2-modelled.svg", "efactory-2-modelled.png"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.file("out") + "/" + name)) << name;
  }
}

TEST(Figures, tells_what_becomes_of_the_claims_as_a_knob_turns) {
  const auto sweep = [](const char* knob) {
    return remora_command({"figures", "efactory-2", "--sweep", knob, "--ops", "200", "--records",
                           "50", "--repeats", "2"});
  };
  const Outcome cores = sweep("cores=1,2");
  ASSERT_EQ(cores.exit_status, kept) << cores.err;
  EXPECT_THAT(cores.out, HasSubstr("| claim | paper | cores = 1 | cores = 2 |"));
  EXPECT_THAT(cores.out, HasSubstr("| ef-2a | 0.45 | 0."));
  const Outcome checksums = sweep("cpu.crc_ns_per_kb=0,1100");
  ASSERT_EQ(checksums.exit_status, kept) << checksums.err;
  EXPECT_THAT(checksums.out, HasSubstr("| ef-2a | 0.45 | 0.00, differs | 0.4"));
  for (const auto& [wrong, why] :
       {std::pair("clients=1", "memory.flush_line_ns"), std::pair("cores=", "cores=1,2,4,8,16"),
        std::pair("cores=0", "from 1 to 1024"), std::pair("cores=1,x", "'x'"),
        std::pair("memory.flush_line_ns=0", "not between 1 and 1000")}) {
    const Outcome refused = sweep(wrong);
    EXPECT_EQ(refused.exit_status, usage) << wrong;
    EXPECT_THAT(refused.err, HasSubstr(why)) << wrong;
  }
}

TEST(Figures, a_number_of_the_profile_can_be_set_otherwise) {
  const TestFolder folder;
  const auto run = [&](const char* setting) {
    return remora_command({"figures", "efactory-2", "--set", setting, "--ops", "200", "--records",
                           "50", "--repeats", "1", "--json", "--out", folder.file("out")});
  };
  const Outcome outcome = run("cpu.crc_ns_per_kb=0");
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_EQ(json_of(outcome).at(0).at("modelled"), 0.0);
  EXPECT_THAT(run("cores=1,2").err, HasSubstr("--set takes one value"));
  EXPECT_THAT(run("steam=1").err, HasSubstr("there are nic.bandwidth_bits_per_s"));
}

TEST(Figures, measures_on_this_machine_when_it_is_asked_to) {
  const TestFolder folder;
  const Outcome outcome =
      remora_command({"figures", "efactory-9c", "--ops", "200", "--records", "50", "--measured",
                      "ring", "--repeats", "1", "--json", "--out", folder.file("out")});
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  for (const nlohmann::json& judged : json_of(outcome)) {
    EXPECT_FALSE(judged.at("measured").is_null()) << judged.dump();
  }
  EXPECT_TRUE(std::filesystem::exists(folder.file("out") + "/efactory-9c-measured.svg"));
}

TEST(Figures, measures_remote_writes_on_every_wire) {
  for (const char* wire : {"ring", "mapped", "roce"}) {
    const TestFolder folder;
    const Outcome outcome = remora_command({"figures", "efactory-1", "--ops", "100", "--measured",
                                            wire, "--json", "--out", folder.file("out")});
    ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
    const nlohmann::json json = json_of(outcome);
    ASSERT_EQ(json.size(), 3u);
    for (const nlohmann::json& judged : json) {
      EXPECT_FALSE(judged.at("measured").is_null()) << wire << judged.dump();
    }
  }
}

TEST(Figures, says_why_nothing_was_measured_and_how_it_would_be) {
  const TestFolder folder;
  const auto reason = [&](const char* figure, const char* wire) {
    const Outcome outcome =
        remora_command({"figures", figure, "--ops", "100", "--records", "20", "--measured", wire,
                        "--json", "--out", folder.file("out")});
    EXPECT_EQ(outcome.exit_status, kept) << outcome.err;
    const nlohmann::json json = json_of(outcome);
    EXPECT_TRUE(json.at(0).at("measured").is_null());
    return json.at(0).at("reason").get<std::string>();
  };
  EXPECT_THAT(reason("efactory-1", "none"), HasSubstr("--measured ring, mapped or roce"));
  EXPECT_THAT(reason("efactory-2", "ring"), HasSubstr("the parts of a latency"));
}

TEST(Figures, a_run_that_fails_is_told_of_and_changes_the_exit_status) {
  const TestFolder folder;
  const Outcome outcome = run_process(
      {"/usr/bin/env", "TMPDIR=" + folder.file("none"), REMORA_COMMAND, "figures", "efactory-1",
       "--ops", "100", "--measured", "ring", "--json", "--out", folder.file("out")});
  EXPECT_EQ(outcome.exit_status, environment);
  EXPECT_THAT(outcome.err, HasSubstr("efactory-1, measured: the run with "));
  EXPECT_THAT(outcome.err, HasSubstr("20 of 40 runs failed"));
  for (const nlohmann::json& judged : json_of(outcome)) {
    EXPECT_FALSE(judged.at("modelled").is_null());
    EXPECT_TRUE(judged.at("measured").is_null());
    EXPECT_THAT(judged.at("reason").get<std::string>(), HasSubstr("the run with "));
  }
}

TEST(Figures, says_what_it_cannot_do) {
  const Outcome outcome = remora_command(
      {"figures", "efactory-2", "--ops", "100", "--records", "20", "--out", "/proc/nope"});
  EXPECT_EQ(outcome.exit_status, usage);
  EXPECT_THAT(outcome.err, HasSubstr("remora: cannot make the folder /proc/nope: No such file"));
}

TEST(Figures, refuses_a_figure_that_is_none_and_says_what_there_is) {
  const Outcome outcome = remora_command({"figures", "efactory-77"});
  EXPECT_EQ(outcome.exit_status, usage);
  EXPECT_THAT(outcome.err, HasSubstr("efactory"));
}

}  // namespace
}  // namespace remora
