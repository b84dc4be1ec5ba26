#include "tests/tidy/systems.h"

#include <gtest/gtest.h>

#include <string>

namespace remora::tidy {
namespace {

const std::string late_fault = "inline constexpr Fault late = {\"late\", \"it comes late\"};\n";
const std::string listing = "inline constexpr std::array all = {&early,\n  &shared::late};\n";

TEST(FaultsAreListed, in_their_own_header_or_below) {
  EXPECT_TRUE(check_faults_are_listed({{"src/kv/faults.h", late_fault + listing}}).empty());
  EXPECT_TRUE(
      check_faults_are_listed({{"src/kv/faults.h", late_fault}, {"src/kv/saw/faults.h", listing}})
          .empty());
}

TEST(FaultsAreListed, and_one_that_is_not_is_named) {
  const auto findings = check_faults_are_listed(
      {{"src/kv/faults.h", "\n" + late_fault}, {"src/rpc/faults.h", listing}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].path, "src/kv/faults.h");
  EXPECT_EQ(findings[0].line, 2u);
  EXPECT_NE(findings[0].message.find("late"), std::string::npos);
}

TEST(FaultsAreListed, but_not_by_being_asked_for) {
  EXPECT_EQ(
      check_faults_are_listed({{"src/kv/faults.h", late_fault + "inline bool f(&late);\n"}}).size(),
      1u);
}

TEST(ListedSources, exist) {
  const Source user("src/kv/engine.cpp",
                    "#include \"lab/gone.h\"\nauto sources = f(\"src/kv/log/\", \"lab/a.cpp\");\n");
  EXPECT_TRUE(check_listed_sources({user, {"src/kv/log/log.cpp", ""}, {"lab/a.cpp", ""}}).empty());
}

TEST(ListedSources, that_have_moved_are_named) {
  const Source user("src/kv/engine.cpp", "\nauto sources = f(\"src/kv/log/\");\n");
  const auto findings = check_listed_sources({user, {"src/kv/logs/log.cpp", ""}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 2u);
}

}  // namespace
}  // namespace remora::tidy
