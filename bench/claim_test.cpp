#include "bench/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remora::bench {
namespace {

Claim claim_with(std::optional<double> target_ratio) {
  return compare({"copy/64", "copying is fast", "a bare loop", target_ratio},
                 std::vector<double>{11, 12, 13}, std::vector<double>{10, 10, 10});
}

TEST(Claim, is_met_when_the_median_ratio_lies_within_the_target) {
  EXPECT_EQ(claim_with(1.3).verdict(), Verdict::met);
}

TEST(Claim, is_missed_when_the_median_ratio_lies_above_the_target) {
  EXPECT_EQ(claim_with(1.05).verdict(), Verdict::missed);
}

TEST(Claim, is_unclear_when_the_rounds_are_too_few_or_too_different_to_tell) {
  EXPECT_EQ(claim_with(1.2).verdict(), Verdict::unclear);
}

TEST(Claim, has_no_verdict_without_a_target) {
  EXPECT_EQ(claim_with(std::nullopt).verdict(), Verdict::no_target);
  EXPECT_TRUE(to_json(claim_with(std::nullopt)).at("target_ratio").is_null());
}

TEST(Claim, takes_the_ratio_of_each_round_and_not_of_the_medians) {
  const Claim claim =
      compare({"x", "", "", {}}, std::vector<double>{10, 20, 60}, std::vector<double>{10, 10, 20});
  EXPECT_EQ(claim.ratio.median, 2);
}

TEST(Claim, says_in_json_that_it_was_measured_and_against_what) {
  Claim claim = claim_with(1.3);
  claim.beside.emplace_back("rate_per_s", 5.0);
  const auto json = nlohmann::json::parse(to_json(claim).dump());
  EXPECT_EQ(json.at("id"), "copy/64");
  EXPECT_EQ(json.at("kind"), "measured");
  EXPECT_EQ(json.at("limit"), "a bare loop");
  EXPECT_EQ(json.at("verdict"), "met");
  EXPECT_EQ(json.at("obtained_ns").at("median"), 12);
  EXPECT_EQ(json.at("limit_ns").at("p90"), 10);
  EXPECT_EQ(json.at("beside").at("rate_per_s"), 5.0);
}

TEST(Claim, says_in_text_that_it_was_measured_and_what_came_out) {
  EXPECT_THAT(to_text(claim_with(1.05)), testing::AllOf(testing::HasSubstr("missed: ratio 1.200"),
                                                        testing::HasSubstr("target 1.05"),
                                                        testing::HasSubstr("measured: 12 ns")));
}

TEST(Claim, says_why_it_was_skipped_and_shows_no_numbers) {
  const Claim claim = skip({"copy/64", "copying is fast", "a peer", 1.0}, "the peer is not here");
  EXPECT_EQ(claim.verdict(), Verdict::skipped);
  EXPECT_THAT(to_text(claim), testing::HasSubstr("skipped: the peer is not here"));
  const auto json = nlohmann::json::parse(to_json(claim).dump());
  EXPECT_EQ(json.at("since"), "the peer is not here");
  EXPECT_FALSE(json.contains("ratio"));
}

}  // namespace
}  // namespace remora::bench
