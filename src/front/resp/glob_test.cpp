#include "front/resp/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace remora::resp {
namespace {

TEST(Glob, matches_as_keys_and_scan_do) {
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*", "anything"));
  EXPECT_TRUE(matches("a*c", "abbbc"));
  EXPECT_FALSE(matches("a*c", "abbb"));
  EXPECT_TRUE(matches("h?llo", "hello"));
  EXPECT_FALSE(matches("h?llo", "hllo"));
  EXPECT_TRUE(matches("h[ae]llo", "hallo"));
  EXPECT_FALSE(matches("h[^e]llo", "hello"));
  EXPECT_TRUE(matches("h[^e]llo", "hallo"));
  EXPECT_TRUE(matches("h[b-z]llo", "hello"));
  EXPECT_TRUE(matches("h[z-b]llo", "hello"));
  EXPECT_TRUE(matches("a\\*b", "a*b"));
  EXPECT_FALSE(matches("a\\*b", "axb"));
  EXPECT_TRUE(matches("*a*a*b", "aaaab"));
  EXPECT_TRUE(matches("[abc", "b"));
  EXPECT_FALSE(matches("", "b"));
  EXPECT_TRUE(matches("", ""));
}

TEST(Glob, takes_no_exponential_time) {
  const std::string text(2000, 'a');
  std::string pattern;
  for (int i = 0; i < 100; ++i) {
    pattern += "*a";
  }
  EXPECT_FALSE(matches(pattern + "*b", text));
}

}  // namespace
}  // namespace remora::resp
