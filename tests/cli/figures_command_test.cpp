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

TEST(Figures, tells_what_becomes_of_the_claims_by_request_cores) {
  const Outcome outcome = remora_command({"figures", "efactory-2", "--sweep", "cores=1,2", "--ops",
                                          "200", "--records", "50", "--repeats", "2"});
  ASSERT_EQ(outcome.exit_status, kept) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("| claim | paper | 1 core | 2 cores |"));
  EXPECT_THAT(outcome.out, HasSubstr("| ef-2a | 0.45 | 0."));
  for (const char* wrong : {"clients=1", "cores=", "cores=0", "cores=1,x"}) {
    const Outcome refused = remora_command({"figures", "efactory-2", "--sweep", wrong});
    EXPECT_NE(refused.exit_status, kept) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("cores=1,2,4,8,16")) << wrong;
  }
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
