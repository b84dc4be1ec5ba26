#include "front/resp/quoted.h"

#include <gtest/gtest.h>

#include <vector>

#include "front/resp/parser.h"

namespace remora::resp {
namespace {

std::string in_quotes(std::string_view text) {
  std::string to;
  append_quoted(to, text);
  return to;
}

TEST(Quoted, shows_letters_as_redis_does) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("plain text ~"), "\"plain text ~\"");
  EXPECT_EQ(in_quotes("a\"\\\n\r\t\a\b"), "\"a\\\"\\\\\\n\\r\\t\\a\\b\"");
  EXPECT_EQ(in_quotes(std::string_view("\0\x7f\xff'", 4)), "\"\\x00\\x7f\\xff'\"");
}

TEST(Quoted, is_read_back_whatever_it_was) {
  std::string all;
  for (int i = 0; i < 256; ++i) {
    all += static_cast<char>(i);
  }
  for (const std::string& text : {all, all + all, std::string("x\\x41"), std::string("\\")}) {
    std::vector<std::string> words;
    ASSERT_TRUE(split_words(in_quotes(text), words));
    EXPECT_EQ(words, std::vector{text});
  }
}

}  // namespace
}  // namespace remora::resp
