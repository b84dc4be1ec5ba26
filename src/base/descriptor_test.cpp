#include "base/descriptor.h"

#include <gtest/gtest.h>

namespace remora {
namespace {

constexpr std::string_view sources[] = {"src/kv/log/", "src/kv/move_key.cpp"};
constexpr Descriptor described = {.name = "x", .about = "", .sources = sources};

TEST(Descriptor, answers_for_what_lies_in_its_folders) {
  EXPECT_TRUE(answers_for(described, "src/kv/log/log.cpp"));
  EXPECT_TRUE(answers_for(described, "/home/me/remora/src/kv/log/deep/log.cpp"));
  EXPECT_TRUE(answers_for(described, "/src/kv/move_key.cpp"));
}

TEST(Descriptor, answers_for_nothing_else) {
  EXPECT_FALSE(answers_for(described, "src/kv/index/index.cpp"));
  EXPECT_FALSE(answers_for(described, "othersrc/kv/log/log.cpp"));
  EXPECT_FALSE(answers_for(described, "src/kv/move_key.cpp.orig"));
  EXPECT_FALSE(answers_for(described, ""));
  EXPECT_FALSE(answers_for(described, "src/kv/log/log_testing.h"));
  EXPECT_FALSE(answers_for({.name = "y", .about = ""}, "src/kv/log/log.cpp"));
}

}  // namespace
}  // namespace remora
