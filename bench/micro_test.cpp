// Runs the program `micro` (REMORA_MICRO, from the build) and reads what it prints. Whether its
// times are good is not asked here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/exit_status.h"
#include "bench/claims_testing.h"
#include "pmem/pmem_testing.h"

namespace remora::bench {
namespace {

Outcome micro(const std::string& arguments) {
  return run_program(REMORA_MICRO " " + arguments);
}

const std::set<std::string> memory_ids = {
    "persist/64", "persist/1024", "persist/4096", "persist/65536", "copy/64",
    "copy/1024",  "copy/4096",    "copy/65536",   "crc/64",        "crc/256",
    "crc/1024",   "crc/4096",     "crc/16384",    "crc/65536"};
const std::set<std::string> recovery_ids = {"recovery/1000", "recovery/10000", "recovery/100000",
                                            "recovery-growth/10000", "recovery-growth/100000"};
const std::set<std::string> commit_ids = {"commit/1",           "commit/8",
                                          "commit/64",          "commit-fdatasync/1",
                                          "commit-fdatasync/8", "commit-fdatasync/64"};

void expect_claims(const std::string& arguments, const std::set<std::string>& expected) {
  const Outcome outcome = micro("--quick --json " + arguments);
  ASSERT_EQ(outcome.exit_status, exit_kept);
  const nlohmann::json report = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_FALSE(report.is_discarded()) << outcome.out;
  EXPECT_EQ(report.at("kind"), "measured");
  std::set<std::string> ids;
  for (const nlohmann::json& claim : report.at("claims")) {
    EXPECT_TRUE(ids.insert(claim.at("id")).second) << "twice: " << claim.at("id");
    expect_complete(claim);
  }
  EXPECT_EQ(ids, expected);
}

std::set<std::string> both(std::set<std::string> some, const std::set<std::string>& others) {
  some.insert(others.begin(), others.end());
  return some;
}

TEST(Micro, prints_json_with_every_claim) {
  if (const auto disk = disk_place()) {
    expect_claims("--path " + disk->string(), both(both(memory_ids, recovery_ids), commit_ids));
  } else {
    expect_claims("--only persist,copy,crc,recovery", both(memory_ids, recovery_ids));
  }
}

TEST(Micro, prints_only_the_groups_that_were_asked_for) {
  expect_claims("--rounds 2 --only recovery", recovery_ids);
}

TEST(Micro, prints_text_for_people) {
  const Outcome outcome = micro("--quick --only crc --rounds 1");
  EXPECT_EQ(outcome.exit_status, exit_kept);
  EXPECT_THAT(outcome.out, testing::HasSubstr("measured: "));
  EXPECT_THAT(outcome.out, testing::HasSubstr("(crc/4096)"));
}

TEST(Micro, refuses_to_measure_commits_in_memory) {
  const Outcome outcome = micro("--quick --json --path " + memory_place().string());
  EXPECT_EQ(outcome.exit_status, exit_environment);
  EXPECT_EQ(outcome.out, "");
}

TEST(Micro, refuses_an_unknown_group) {
  EXPECT_EQ(micro("--only speed").exit_status, exit_usage);
}

TEST(Micro, explains_itself) {
  const Outcome outcome = micro("--help");
  EXPECT_EQ(outcome.exit_status, exit_kept);
  EXPECT_THAT(outcome.out, testing::HasSubstr("--rounds"));
}

}  // namespace
}  // namespace remora::bench
