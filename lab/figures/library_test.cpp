#include "lab/figures/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lab/figures/figures_testing.h"

namespace remora::figures {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> keys(const Library& library, const std::string& name) {
  Result<std::vector<const Figure*>> figures = library.select(name);
  std::vector<std::string> keys;
  if (figures.ok()) {
    for (const Figure* figure : *figures) {
      keys.push_back(figure->key());
    }
  }
  return keys;
}

TEST(Library, has_every_claim_of_the_five_papers) {
  const Library library = built_in();
  std::map<std::string, int> of_paper;
  std::set<std::string> ids;
  for (const Claim& claim : library.claims()) {
    ++of_paper[claim.paper];
    EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
  }
  EXPECT_EQ(
      of_paper,
      (std::map<std::string, int>{
          {"efactory", 33}, {"rdma-flush", 33}, {"rdmp-kv", 34}, {"filemr", 15}, {"term", 68}}));
}

TEST(Library, has_every_figure_of_efactory_and_reads_each_of_its_claims) {
  const Library library = built_in();
  for (const std::string& id : library.paper("efactory")->figures) {
    EXPECT_NE(library.figure("efactory", id), nullptr) << id;
  }
  for (const Claim& claim : library.claims()) {
    if (claim.paper == "efactory") {
      const Figure* const figure = library.figure(claim.paper, claim.figure);
      ASSERT_NE(figure, nullptr) << claim.id;
      EXPECT_NE(figure->reading_of(claim.id), nullptr) << claim.id;
    }
  }
}

TEST(Library, selects_by_paper_figure_and_group) {
  const Library library = built_in();
  EXPECT_EQ(keys(library, "").size(), 9U);
  EXPECT_EQ(keys(library, "efactory").size(), 9U);
  EXPECT_THAT(keys(library, "efactory-9b"), ElementsAre("efactory-9b"));
  EXPECT_THAT(keys(library, "efactory-9"),
              ElementsAre("efactory-9a", "efactory-9b", "efactory-9c", "efactory-9d"));
  EXPECT_THAT(keys(library, "efactory-1"), ElementsAre("efactory-1"));
}

TEST(Library, says_what_there_is_where_a_name_is_wrong) {
  const Library library = built_in();
  Result<std::vector<const Figure*>> none = library.select("efactory-12");
  EXPECT_EQ(none.code(), Code::not_found);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("efactory-9a"));
  EXPECT_EQ(library.select("efactory-").code(), Code::not_found);
  EXPECT_EQ(library.select("efac").code(), Code::not_found);
}

constexpr std::string_view papers = R"({"about": "a", "papers": [
  {"id": "p", "system": "P", "title": "t", "venue": "v", "figures": ["1", "2"], "designs": ["a"]}]})";

std::string claim(const std::string& id, const std::string& figure, const std::string& kind) {
  const std::string numbers =
      kind == "shape" ? R"("note": "n")" : R"("better": "higher", "worst": 2, "best": 2)";
  return R"({"id": ")" + id + R"(", "paper": "p", "figure": ")" + figure +
         R"(", "workload": "w", "metric": "m", "subject": "a", "kind": ")" + kind + "\", " +
         numbers + "}";
}

std::string library_complaint(const std::string& claims, const std::string& readings,
                              const std::string& findings = "", const std::string& remarks = "",
                              const std::string& figure = "1") {
  const std::string claims_file = R"({"about": {}, "claims": [)" + claims + "]}";
  std::string figures_file = small_figures(readings);
  figures_file.replace(figures_file.find(R"("id": "1")"), 9, R"("id": ")" + figure + '"');
  const std::string findings_file =
      R"({"about": "a", "findings": {)" + findings + R"(}, "remarks": {)" + remarks + "}}";
  Result<Library> library = Library::parse({{"claims.json", claims_file},
                                            {"figures/p.json", figures_file},
                                            {"findings.json", findings_file},
                                            {"papers.json", papers}});
  return library.ok() ? "" : std::string(library.status().message());
}

TEST(Library, refuses_a_claim_of_an_unknown_figure) {
  EXPECT_THAT(library_complaint(claim("c", "3", "point"), ""), HasSubstr("figure '3'"));
}

TEST(Library, refuses_a_claim_that_its_figure_does_not_read) {
  EXPECT_THAT(library_complaint(claim("c", "1", "point"), ""), HasSubstr("where to read it"));
  EXPECT_EQ(library_complaint(claim("c", "2", "point"), ""), "");  // the file has no figure 2
}

TEST(Library, refuses_a_reading_of_no_claim_or_of_another_kind) {
  const std::string reading = R"({"claim": "c", "subject": ["a"]})";
  EXPECT_EQ(library_complaint(claim("c", "1", "point"), reading), "");
  EXPECT_THAT(library_complaint("", reading), HasSubstr("no claim of it"));
  EXPECT_THAT(library_complaint(claim("c", "1", "shape"), reading),
              HasSubstr("read by conditions"));
}

// A figure that no paper has may be drawn, and nothing is read from it.
TEST(Library, takes_a_figure_of_our_own_that_reads_no_claim) {
  EXPECT_EQ(library_complaint("", "", "", "", "ours"), "");
  EXPECT_THAT(library_complaint("", R"({"claim": "c", "subject": ["a"]})", "", "", "ours"),
              HasSubstr("figure p-ours is not in papers.json"));
}

TEST(Library, refuses_a_finding_about_no_claim) {
  EXPECT_THAT(library_complaint("", "", R"("c": "cause")"), HasSubstr("findings.json"));
  EXPECT_THAT(library_complaint("", "", "", R"("c": "remark")"), HasSubstr("findings.json"));
}

}  // namespace
}  // namespace remora::figures
