#include "lab/figures/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace remora::figures {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& claims) {
  return R"({"about": {}, "claims": [)" + claims + "]}";
}

std::string claim_with(const std::string& fields, const std::string& id = "x-1") {
  return R"({"id": ")" + id +
         R"(", "paper": "p", "figure": "1", "workload": "w", "metric": "m", "subject": "s", )" +
         R"("versus": null, )" + fields + "}";
}

std::string claims_complaint(const std::string& text) {
  Result<std::vector<Claim>> claims = parse_claims(text);
  EXPECT_FALSE(claims.ok());
  return std::string(claims.status().message());
}

TEST(Claim, of_every_kind_is_read) {
  Result<std::vector<Claim>> claims = parse_claims(file_of(
      claim_with(R"("kind": "point", "better": "lower", "worst": 0.5, "best": 0.5)", "a") + "," +
      claim_with(R"("kind": "range", "better": "higher", "worst": 1.42, "best": 3.79)", "b") + "," +
      claim_with(R"("kind": "upto", "better": "lower", "worst": 1.0, "best": 0.3)", "c") + "," +
      claim_with(R"("kind": "shape", "better": null, "worst": null, "best": null, "note": "up")",
                 "d")));
  ASSERT_TRUE(claims.ok()) << claims.status().message();
  ASSERT_EQ(claims->size(), 4U);
  EXPECT_EQ(said((*claims)[0]), "0.5");
  EXPECT_EQ(said((*claims)[1]), "1.42 to 3.79");
  EXPECT_EQ(said((*claims)[2]), "up to 0.3, never worse than 1");
  EXPECT_EQ(said((*claims)[3]), "up");
  EXPECT_EQ((*claims)[2].better, Better::lower);
  EXPECT_FALSE((*claims)[3].better);
}

TEST(Claim, with_an_id_that_another_has_is_refused) {
  const std::string one =
      claim_with(R"("kind": "point", "better": "lower", "worst": 1, "best": 1)");
  EXPECT_THAT(claims_complaint(file_of(one + "," + one)), HasSubstr("two claims 'x-1'"));
}

TEST(Claim, up_to_a_best_that_is_worse_than_its_worst_is_refused) {
  EXPECT_THAT(claims_complaint(file_of(
                  claim_with(R"("kind": "upto", "better": "lower", "worst": 0.33, "best": 0.59)"))),
              HasSubstr("better than its best"));
}

TEST(Claim, of_a_range_has_its_ends_in_the_sense_of_better) {
  Result<std::vector<Claim>> claims = parse_claims(file_of(
      claim_with(R"("kind": "range", "better": "lower", "worst": 0.33, "best": 0.59)", "a") + "," +
      claim_with(R"("kind": "range", "better": "higher", "worst": 3, "best": 1)", "b")));
  ASSERT_TRUE(claims.ok()) << claims.status().message();
  EXPECT_EQ((*claims)[0].worst, 0.59);
  EXPECT_EQ((*claims)[0].best, 0.33);
  EXPECT_EQ((*claims)[1].worst, 1);
  EXPECT_EQ((*claims)[1].best, 3);
}

TEST(Claim, with_a_misspelt_field_or_kind_is_refused) {
  EXPECT_THAT(claims_complaint(file_of(claim_with(
                  R"("kind": "point", "better": "lower", "worst": 1, "best": 1, "nota": "n")"))),
              HasSubstr("'nota'"));
  EXPECT_THAT(claims_complaint(file_of(claim_with(R"("kind": "pint", "better": "lower")"))),
              HasSubstr("'pint'"));
}

TEST(Claim, without_what_its_kind_needs_is_refused) {
  EXPECT_THAT(
      claims_complaint(file_of(claim_with(R"("kind": "point", "better": "lower", "best": 1)"))),
      HasSubstr("needs better, worst and best"));
  EXPECT_THAT(claims_complaint(file_of(claim_with(R"("kind": "shape")"))), HasSubstr("note"));
  EXPECT_THAT(claims_complaint(file_of(
                  claim_with(R"("kind": "point", "better": "lower", "worst": 2, "best": 1)"))),
              HasSubstr("the same"));
}

TEST(Claim, of_a_text_that_is_no_json_is_refused) {
  EXPECT_THAT(claims_complaint("{"), HasSubstr("claims.json"));
}

}  // namespace
}  // namespace remora::figures
