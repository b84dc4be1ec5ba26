// The deterministic model is held to its verdicts and to its numbers: what five seeds say of every
// claim of eFactory is what docs/claims/verdicts.txt has.
#include <map>
#include <sstream>

#include "tests/cli/cli_testing.h"
#include "tests/support/files.h"

namespace remora {
namespace {

// What a line has: the detail, and the numbers of ours with the band in which they may lie.
struct Pinned {
  std::string detail;
  std::vector<double> numbers;  // none of a shape
  double band = 0;              // as a part of each
};

// "claim | detail | numbers | band" on each line; those that begin with # are for people.
std::map<std::string, Pinned> pinned_verdicts() {
  std::map<std::string, Pinned> verdicts;
  std::istringstream lines(
      read_text(std::string(REMORA_SOURCE_ROOT) + "/docs/claims/verdicts.txt"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    std::vector<std::string> fields;
    std::istringstream row(line);
    for (std::string field; std::getline(row, field, '|');) {
      const std::size_t begin = field.find_first_not_of(' ');
      fields.push_back(
          begin == field.npos ? "" : field.substr(begin, field.find_last_not_of(' ') - begin + 1));
    }
    Pinned& pinned = verdicts[fields.at(0)];
    pinned.detail = fields.at(1);
    std::istringstream numbers(fields.at(2));
    for (double number = 0; numbers >> number;) {
      pinned.numbers.push_back(number);
    }
    pinned.band = std::stod(fields.at(3));
  }
  return verdicts;
}

// One number or two, or none of a shape.
std::vector<double> numbers_of(const nlohmann::json& modelled) {
  if (modelled.is_number()) {
    return {modelled.get<double>()};
  }
  return modelled.is_array() ? modelled.get<std::vector<double>>() : std::vector<double>();
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
    outcome = new Outcome(remora_command({"figures", "efactory", "--ops", "400", "--records", "300",
                                          "--seed", "1", "--json", "--out", folder->file("out")}));
  }
  static void TearDownTestSuite() {
    delete outcome;
    delete folder;
  }

  static inline TestFolder* folder = nullptr;
  static inline Outcome* outcome = nullptr;
};

TEST_F(FigureVerdicts, of_the_model_are_those_that_are_written_down_and_so_are_their_numbers) {
  ASSERT_EQ(outcome->exit_status, kept) << outcome->err;
  std::map<std::string, Pinned> pinned = pinned_verdicts();
  for (const nlohmann::json& judged : json_of(*outcome)) {
    const std::string claim = judged.at("claim");
    ASSERT_TRUE(pinned.contains(claim)) << claim;
    const Pinned& expected = pinned.at(claim);
    EXPECT_FALSE(judged.at("modelled").is_null()) << judged.dump();
    EXPECT_FALSE(judged.at("reason").get<std::string>().empty());
    EXPECT_EQ(judged.at("detail"), expected.detail) << judged.dump();
    const std::vector<double> numbers = numbers_of(judged.at("modelled"));
    ASSERT_EQ(numbers.size(), expected.numbers.size()) << claim;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i], expected.numbers[i], expected.band * expected.numbers[i]) << claim;
    }
    pinned.erase(claim);
  }
  EXPECT_TRUE(pinned.empty()) << pinned.begin()->first << " is no claim";
}

TEST_F(FigureVerdicts, have_our_cleaning_cost_a_get_at_most_a_fifth_and_a_put_three_quarters) {
  auto latency = latencies(folder->file("out") + "/efactory-11.csv");
  ASSERT_EQ(latency.size(), 16u);
  const auto ratio = [&](const std::string& workload) {
    return latency.at({"cleaning-ours", workload}) / latency.at({"idle-ours", workload});
  };
  EXPECT_LE(ratio("100% GET"), 1.21);
  EXPECT_LE(ratio("100% PUT"), 1.75);
}

}  // namespace
}  // namespace remora
