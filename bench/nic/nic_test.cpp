// Runs the program `nic` (REMORA_NIC, from the build) and reads what it prints. Whether its times
// are good is not asked here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "base/exit_status.h"
#include "bench/claims_testing.h"

namespace remora::bench {
namespace {

Outcome nic(const std::string& arguments) {
  return run_program(REMORA_NIC " " + arguments);
}

bool has_two_cores() {
  return nic("--quick --rounds 1 --only ring").exit_status == exit_kept;
}

// The claims by their identifiers; each is measured, or says why it was skipped.
std::map<std::string, nlohmann::json> claims_of(const std::string& arguments) {
  const Outcome outcome = nic("--quick --json " + arguments);
  EXPECT_EQ(outcome.exit_status, exit_kept);
  const nlohmann::json report = nlohmann::json::parse(outcome.out, nullptr, false);
  std::map<std::string, nlohmann::json> claims;
  if (report.is_discarded()) {
    ADD_FAILURE() << outcome.out;
    return claims;
  }
  EXPECT_GT(report.at("machine").at("core_round_trip_ns_before"), 0);
  EXPECT_GT(report.at("machine").at("core_round_trip_ns_after"), 0);
  for (const nlohmann::json& claim : report.at("claims")) {
    EXPECT_TRUE(claims.emplace(claim.at("id"), claim).second) << "twice: " << claim.at("id");
    if (claim.at("verdict") == "skipped") {
      EXPECT_FALSE(claim.at("since").get<std::string>().empty()) << claim.dump(2);
    } else {
      expect_complete(claim);
      EXPECT_GT(claim.at("beside").at("core_round_trip_before_ns"), 0);
    }
  }
  return claims;
}

TEST(NicBench, measures_ring_beside_the_ideal) {
  if (!has_two_cores()) {
    GTEST_SKIP() << "this machine has one core";
  }
  const auto claims = claims_of("--only ring");
  for (const char* id :
       {"ring-latency/64", "ring-latency/4096", "ring-rate/64", "ring-rate/4096"}) {
    ASSERT_TRUE(claims.contains(id)) << id;
    EXPECT_NE(claims.at(id).at("verdict"), "skipped");
  }
}

TEST(NicBench, measures_roce_beside_bare_datagrams) {
  if (!has_two_cores()) {
    GTEST_SKIP() << "this machine has one core";
  }
  const auto claims = claims_of("--only roce");
  EXPECT_EQ(claims.size(), 15u);
  for (const char* id : {"roce-latency/64", "roce-rate/64", "roce-bandwidth/65536"}) {
    ASSERT_TRUE(claims.contains(id)) << id;
    EXPECT_NE(claims.at(id).at("verdict"), "skipped");
  }
}

TEST(NicBench, measures_mapped_beside_bare_instructions) {
  if (!has_two_cores()) {
    GTEST_SKIP() << "this machine has one core";
  }
  const auto claims = claims_of("--only mapped");
  EXPECT_EQ(claims.size(), 13u);
  for (const char* aspect : {"write", "read", "persist"}) {
    for (const char* size : {"64", "4096", "65536"}) {
      const std::string id = "mapped-" + std::string(aspect) + "/" + size;
      ASSERT_TRUE(claims.contains(id)) << id;
    }
  }
  EXPECT_TRUE(claims.contains("mapped-rate/64"));
}

// A peer that is not installed is skipped, and says which package brings it.
TEST(NicBench, measures_the_peers_that_are_here_and_names_the_package_of_others) {
  if (!has_two_cores()) {
    GTEST_SKIP() << "this machine has one core";
  }
  const auto claims = claims_of("--rounds 1 --only peers");
  EXPECT_EQ(claims.size(), 48u);
  for (const auto& [id, claim] : claims) {
    const bool is_ring = id.starts_with("ring-");
    if (is_ring && claim.at("verdict") == "skipped") {
      EXPECT_THAT(claim.at("since").get<std::string>(), testing::HasSubstr("scripts/peers")) << id;
    }
  }
}

TEST(NicBench, refuses_an_unknown_group) {
  EXPECT_EQ(nic("--only speed").exit_status, exit_usage);
}

TEST(NicBench, explains_itself) {
  const Outcome outcome = nic("--help");
  EXPECT_EQ(outcome.exit_status, exit_kept);
  EXPECT_THAT(outcome.out, testing::HasSubstr("--only"));
}

}  // namespace
}  // namespace remora::bench
