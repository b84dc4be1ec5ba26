#include "lab/workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remora::workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Workload parsed(std::string_view text) {
  Result<Workload> workload = parse_workload(text);
  EXPECT_TRUE(workload.ok()) << workload.status().message();
  return std::move(workload).value();
}

// The proportions of YCSB's files workloada to workloadf. In order: read, update, insert, scan,
// read-modify-write, delete.
TEST(Workload, has_the_core_workloads_of_ycsb) {
  EXPECT_THAT(parsed("a").weights, ElementsAre(50, 50, 0, 0, 0, 0));
  EXPECT_THAT(parsed("b").weights, ElementsAre(95, 5, 0, 0, 0, 0));
  EXPECT_THAT(parsed("c").weights, ElementsAre(100, 0, 0, 0, 0, 0));
  EXPECT_THAT(parsed("d").weights, ElementsAre(95, 0, 5, 0, 0, 0));
  EXPECT_THAT(parsed("e").weights, ElementsAre(0, 0, 5, 95, 0, 0));
  EXPECT_THAT(parsed("f").weights, ElementsAre(50, 0, 0, 0, 50, 0));
  EXPECT_THAT(parsed("update-only").weights, ElementsAre(0, 100, 0, 0, 0, 0));
  for (const Description& description : known_workloads()) {
    const Workload workload = parsed(description.name);
    EXPECT_EQ(workload.name, description.name);
    EXPECT_EQ(workload.distribution.choice,
              description.name == "d" ? Choice::latest : Choice::zipfian);
    EXPECT_EQ(workload.distribution.theta, 0.99);
    EXPECT_EQ(workload.scan_low, 1u);
    EXPECT_EQ(workload.scan_high, 100u);
  }
}

TEST(Workload, is_known_by_each_of_its_names) {
  for (const std::string_view text : {"a", "A", "ycsb-a", "YCSB-A", "workloada"}) {
    EXPECT_EQ(parsed(text).name, "a") << text;
  }
}

TEST(Workload, may_be_a_mix) {
  const Workload workload = parsed("read:80,rmw:15,delete:5");
  EXPECT_THAT(workload.weights, ElementsAre(80, 0, 0, 0, 15, 5));
  EXPECT_EQ(workload.name, "read:80,rmw:15,delete:5");
  EXPECT_EQ(workload.distribution, Distribution());
}

TEST(Workload, of_no_known_name_is_refused_with_those_that_exist) {
  for (const std::string_view text : {"", "g", "ycsb-", "ycsb-update-only", "workload", "aa"}) {
    const Result<Workload> workload = parse_workload(text);
    ASSERT_FALSE(workload.ok()) << text;
    EXPECT_EQ(workload.code(), Code::invalid_argument);
    EXPECT_THAT(std::string(workload.status().message()),
                HasSubstr("there are a, b, c, d, e, f, update-only, or a mix such as read:80"));
  }
}

TEST(Workload, refuses_a_mix_that_has_no_meaning) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"read:80,update", "\"update\" has no weight"},
      {"read:80,write:20",
       "\"write\" is unknown; choose one of read, update, insert, scan, read-modify-write"},
      {"read:-1", "is not a number"},
      {"read:", "is not a number"},
      {"read:0,update:0", "all weights are 0"},
      {"read:1,read:2", "read is there twice"},
      {":1", "is unknown; choose one of"},
  };
  for (const auto& [text, why] : cases) {
    const Result<Workload> workload = parse_workload(text);
    ASSERT_FALSE(workload.ok()) << text;
    EXPECT_THAT(std::string(workload.status().message()), HasSubstr(std::string(why)));
    EXPECT_THAT(std::string(workload.status().message()), HasSubstr("write it as read:80"));
  }
}

TEST(Kind, is_read_back_from_its_name) {
  for (const Kind kind : all_kinds) {
    EXPECT_EQ(parse_kind(to_string(kind)).value(), kind);
  }
}

TEST(Distribution, is_read_back_from_its_text) {
  for (const std::string_view text : {"zipfian:0.5", "uniform", "latest:0.99", "zipfian:0"}) {
    EXPECT_EQ(to_string(*parse_distribution(text)), text);
  }
  EXPECT_EQ(parse_distribution("zipfian")->theta, 0.99);
  EXPECT_EQ(parse_distribution("latest")->choice, Choice::latest);
}

TEST(Distribution, refuses_what_it_cannot_draw) {
  for (const std::string_view text : {"", "zipf", "hotspot", "zipfian:", "zipfian:1", "zipfian:1.2",
                                      "zipfian:x", "uniform:0.5"}) {
    const Result<Distribution> distribution = parse_distribution(text);
    ASSERT_FALSE(distribution.ok()) << text;
    EXPECT_THAT(std::string(distribution.status().message()), HasSubstr("zipfian:0.9")) << text;
  }
}

TEST(Workload, list_has_a_line_for_each) {
  const std::string list = list_workloads();
  EXPECT_EQ(static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n')),
            known_workloads().size() + 1);
  EXPECT_THAT(list, HasSubstr("\n  d            95% read, 5% insert, latest"));
  EXPECT_THAT(list, HasSubstr("\n  KIND:N,...   a mix of read, update"));
}

}  // namespace
}  // namespace remora::workload
