#include "lab/memory/platform.h"

#include <gtest/gtest.h>

#include <set>

namespace remora {
namespace {

TEST(Platform, prints_and_parses_every_combination) {
  for (const Platform& platform : all_platforms()) {
    EXPECT_EQ(*parse_platform(to_string(platform)), platform);
  }
}

TEST(Platform, all_combinations_are_twelve_and_differ) {
  std::set<std::string> names;
  for (const Platform& platform : all_platforms()) {
    names.insert(to_string(platform));
  }
  EXPECT_EQ(names.size(), 12u);
}

TEST(Platform, prints_what_is_not_the_default) {
  const Platform platform{.domain = Domain::wsp,
                          .ddio = false,
                          .flush = FlushMeaning::pcie,
                          .ascending = false,
                          .granularity = Granularity::page};
  EXPECT_EQ(to_string(platform), "wsp,ddio=off,flush=pcie,order=any,media=page");
  EXPECT_EQ(*parse_platform(to_string(platform)), platform);
}

TEST(Platform, keeps_the_default_of_what_is_left_out) {
  EXPECT_EQ(*parse_platform(""), Platform{});
  EXPECT_EQ(*parse_platform("ddio=off"), Platform{.ddio = false});
}

TEST(Platform, refuses_unknown_words_and_lists_the_known) {
  EXPECT_EQ(parse_platform("adr").code(), Code::invalid_argument);
  EXPECT_EQ(parse_platform("dmp,ddio=maybe").code(), Code::invalid_argument);
  EXPECT_EQ(parse_platform("dmp,color=red").code(), Code::invalid_argument);
  EXPECT_EQ(parse_flush_meaning("nic").status().message(),
            "'nic' is unknown; choose one of platform, pcie");
}

TEST(Platform, page_media_lose_what_dram_loses_on_every_domain) {
  for (Platform platform : all_platforms()) {
    platform.granularity = Granularity::page;
    EXPECT_EQ(in_force(platform).domain, Domain::dmp);
    EXPECT_TRUE(in_force(platform).ddio);
    EXPECT_EQ(in_force(platform).flush, FlushMeaning::pcie);
  }
}

}  // namespace
}  // namespace remora
