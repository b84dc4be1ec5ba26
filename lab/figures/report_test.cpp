#include "lab/figures/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/check.h"
#include "lab/figures/figures_testing.h"
#include "lab/figures/html_text.h"
#include "lab/figures/picture_testing.h"

namespace remora::figures {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

class ReportTest : public ::testing::Test {
 protected:
  ReportTest() {
    std::string name = (fs::temp_directory_path() / "remora-test-XXXXXX").string();
    REMORA_CHECK(mkdtemp(name.data()) != nullptr, "cannot make a folder for the test");
    folder = name;
    provenance.command = "remora figures efactory --seed 7";
    provenance.version = "1.2.3";
    provenance.machine = "a <small> machine";
    provenance.seed = 7;
  }
  ~ReportTest() override { fs::remove_all(folder); }

  // All of figure 9a modelled, with the paper's ratios to imm; nothing measured.
  void model_9a() {
    fill(observations, figure_of(library, "9a"), Origin::modelled,
         [](const Point& point) { return point.series == "efactory-published" ? 0.98e6 : 1e6; });
  }

  std::vector<const Figure*> figures(const std::string& name) { return *library.select(name); }

  fs::path folder;
  const Library library = built_in();
  Observations observations;
  Provenance provenance;
};

TEST_F(ReportTest, writes_pictures_data_verdicts_and_a_page) {
  model_9a();
  Result<Report> report = write_report(library, figures("efactory-9a"), observations, provenance,
                                       folder / "new" / "out");
  ASSERT_TRUE(report.ok()) << report.status().message();
  for (const fs::path& file : report->files) {
    EXPECT_GT(fs::file_size(file), 0U) << file;
  }
  const fs::path out = folder / "new" / "out";
  EXPECT_EQ(xml_fault(content(out / "efactory-9a-modelled.svg")), "");
  EXPECT_TRUE(png_size(content(out / "efactory-9a-modelled.png")));
  EXPECT_FALSE(fs::exists(out / "efactory-9a-measured.svg"));  // there is nothing to show
  EXPECT_EQ(report->page, out / "index.html");
  EXPECT_EQ(report->files.size(), 5U);
}

TEST_F(ReportTest, fails_where_it_cannot_write) {
  std::ofstream(folder / "file") << "in the way";
  EXPECT_FALSE(
      write_report(library, figures("efactory-9a"), observations, provenance, folder / "file")
          .ok());
}

TEST_F(ReportTest, gives_the_verdicts_as_json) {
  model_9a();
  const nlohmann::json list =
      nlohmann::json::parse(to_json(judge_all(library, figures("efactory"), observations)));
  ASSERT_EQ(list.size(), 33U);
  for (const nlohmann::json& one : list) {
    EXPECT_EQ(one.size(), 7U);
    EXPECT_TRUE(one["measured"].is_null());
    const std::string id = one["claim"];
    if (id == "ef-9a1") {
      EXPECT_EQ(one["verdict"], "within");
      EXPECT_NEAR(one["modelled"].get<double>(), 0.98, 1e-9);
    } else if (id == "ef-9a4") {
      EXPECT_EQ(one["verdict"], "short");
      EXPECT_EQ(one["modelled"].size(), 2U);
    } else if (library.claim(id)->figure != "9a") {
      EXPECT_EQ(one["verdict"], "short") << id;
      EXPECT_THAT(one["reason"].get<std::string>(), HasSubstr("no data")) << id;
      EXPECT_TRUE(one["modelled"].is_null());
    }
  }
}

TEST_F(ReportTest, gives_a_shape_as_true_or_false) {
  fill(observations, figure_of(library, "9c"), Origin::measured, [](const Point&) { return 1.0; });
  const nlohmann::json list =
      nlohmann::json::parse(to_json(judge_all(library, figures("efactory-9c"), observations)));
  EXPECT_EQ(list[0]["claim"], "ef-9c1");
  EXPECT_EQ(list[0]["measured"], false);
  EXPECT_EQ(list[0]["verdict"], "short");
}

TEST_F(ReportTest, gives_the_data_as_csv) {
  const Figure& figure = figure_of(library, "9a");
  ASSERT_TRUE(observations
                  .add(figure, Origin::measured, {"ycsb-c", "imm", "", 1024},
                       {.value = 2.5, .low = 2, .high = 3})
                  .ok());
  EXPECT_EQ(to_csv(figure, observations),
            "origin,panel,metric,unit,series,part,x,x_name,value,low,high,state,"
            "persistent\n"
            "measured,ycsb-c,throughput_ops_per_s,ops/s,imm,,1024,1 KiB,2.5,2,3,steady,1\n");
}

TEST_F(ReportTest, makes_a_page_that_needs_nothing_else) {
  model_9a();
  Result<DrawnFigure> drawn = draw_figure(figure_of(library, "9a"), observations, provenance);
  ASSERT_TRUE(drawn.ok());
  std::vector<DrawnFigure> all;
  all.push_back(std::move(*drawn));
  const std::string page = to_page(all, judge_all(library, figures("efactory-9a"), observations),
                                   observations, provenance);
  EXPECT_THAT(page, HasSubstr("<div class=\"claim\" id=\"ef-9a1\">"));
  EXPECT_THAT(page, HasSubstr("throughput of efactory / imm: the paper has 0.98, modelled 0.98: "
                              "agrees."));
  EXPECT_THAT(page, HasSubstr("Of 4 claims 2 agree with the paper and 2 fall short."));
  EXPECT_THAT(page, HasSubstr("<svg class=\"claims\""));
  EXPECT_THAT(page, HasSubstr("class=\"modelled\"/>"));
  EXPECT_THAT(page, Not(HasSubstr("class=\"measured\"/>"))) << "nothing was";
  EXPECT_THAT(page, HasSubstr("<span class=\"within\">within</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"no-data\">no data</span>"));
  EXPECT_THAT(page, HasSubstr("data:image/svg+xml;base64,"));
  EXPECT_THAT(page, HasSubstr("by the profile connectx-5, dram-clflush, xeon; seed 7"));
  EXPECT_THAT(page, HasSubstr("remora figures efactory-9a"));
  EXPECT_THAT(page, HasSubstr("engine=efactory"));
  for (const char* outside : {"http:", "https:", "<script", "<link", "@import", "src=\"/"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST_F(ReportTest, shows_every_text_as_text) {
  provenance.command = "remora figures '<b>' & co";
  fill(observations, figure_of(library, "9a"), Origin::measured, [](const Point&) { return 1.0; });
  Result<DrawnFigure> drawn = draw_figure(figure_of(library, "9a"), observations, provenance);
  ASSERT_TRUE(drawn.ok());
  EXPECT_EQ(xml_fault(drawn->svg[Origin::measured]), "");
  std::vector<DrawnFigure> all;
  all.push_back(std::move(*drawn));
  const std::string page = to_page(all, {}, observations, provenance);
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;&#39; &amp; co"));
  EXPECT_THAT(page, HasSubstr("a &lt;small&gt; machine"));
}

TEST(Base64, pads_what_is_left) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob\xff"), "Zm9vYv8=");
}

}  // namespace
}  // namespace remora::figures
