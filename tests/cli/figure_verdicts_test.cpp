// The deterministic model is held to its verdicts: what a seed says of every claim of eFactory is
// what docs/claims/verdicts.txt has.
#include <map>
#include <sstream>

#include "tests/cli/cli_testing.h"
#include "tests/support/files.h"

namespace remora {
namespace {

// "claim verdict" on each line; those that begin with # are for people.
std::map<std::string, std::string> expected_verdicts() {
  std::map<std::string, std::string> verdicts;
  std::istringstream lines(
      read_text(std::string(REMORA_SOURCE_ROOT) + "/docs/claims/verdicts.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) {
      const std::size_t space = line.find(' ');
      verdicts[line.substr(0, space)] = line.substr(space + 1);
    }
  }
  return verdicts;
}

// From KEY.csv, by series and name of x.
std::map<std::pair<std::string, std::string>, double> latencies(const std::string& path) {
  std::map<std::pair<std::string, std::string>, double> values;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, ',');) {
      fields.push_back(field);
    }
    if (fields.at(0) == "modelled") {
      values[{fields.at(4), fields.at(7)}] = std::stod(fields.at(8));
    }
  }
  return values;
}

class FigureVerdicts : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TestFolder();
    outcome =
        new Outcome(remora_command({"figures", "efactory", "--ops", "1000", "--records", "300",
                                    "--seed", "1", "--json", "--out", folder->file("out")}));
  }
  static void TearDownTestSuite() {
    delete outcome;
    delete folder;
  }

  static inline TestFolder* folder = nullptr;
  static inline Outcome* outcome = nullptr;
};

TEST_F(FigureVerdicts, of_the_model_are_those_that_are_written_down) {
  ASSERT_EQ(outcome->exit_status, kept) << outcome->err;
  std::map<std::string, std::string> verdicts;
  for (const nlohmann::json& judged : json_of(*outcome)) {
    verdicts[judged.at("claim")] = judged.at("verdict");
    EXPECT_FALSE(judged.at("modelled").is_null()) << judged.dump();
    EXPECT_FALSE(judged.at("reason").get<std::string>().empty());
  }
  EXPECT_EQ(verdicts, expected_verdicts());
}

// Puts are as fast as the verifier, which shares its core with the cleaner.
TEST_F(FigureVerdicts, have_cleaning_cost_a_get_at_most_a_fifth_and_a_put_a_third) {
  auto latency = latencies(folder->file("out") + "/efactory-11.csv");
  ASSERT_EQ(latency.size(), 8u);
  const auto ratio = [&](const std::string& workload) {
    return latency.at({"during cleaning", workload}) / latency.at({"idle", workload});
  };
  EXPECT_LE(ratio("100% GET"), 1.21);
  EXPECT_LE(ratio("100% PUT"), 1.35);
}

}  // namespace
}  // namespace remora
