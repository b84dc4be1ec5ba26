#include "tests/tidy/source.h"

#include <gtest/gtest.h>

#include <string>

namespace remora::tidy {
namespace {

TEST(CodeOnly, blanks_comments_and_keeps_lines) {
  EXPECT_EQ(code_only("a; // b\nc; /* d\ne */ f;"), "a;     \nc;     \n     f;");
}

TEST(CodeOnly, blanks_literals_with_escapes) {
  EXPECT_EQ(code_only(R"(x("a\"b", '\'', 'c');)"), R"(x("    ", '  ', ' ');)");
}

TEST(CodeOnly, blanks_raw_strings) {
  EXPECT_EQ(code_only("x = R\"t(a \" // )\")t\"; y"), "x = R\"           )t\"; y");
}

TEST(CodeOnly, takes_separators_of_thousands_for_what_they_are) {
  EXPECT_EQ(code_only("a = 1'000; b = 'x';"), "a = 1'000; b = ' ';");
}

TEST(CodeOnly, does_not_start_a_comment_in_a_string) {
  EXPECT_EQ(code_only("\"//\" code"), "\"  \" code");
}

TEST(LinesOf, counts_as_an_editor_does) {
  EXPECT_EQ(lines_of("").size(), 0u);
  EXPECT_EQ(lines_of("a\n").size(), 1u);
  EXPECT_EQ(lines_of("a\n\nb").size(), 3u);
  EXPECT_EQ(line_at("a\nb\nc", 4), 3u);
}

TEST(FindToken, finds_whole_names_only) {
  EXPECT_EQ(find_token("strand(x) rand(y)", "rand("), 10u);
  EXPECT_EQ(find_token("std::threads std::thread t", "std::thread"), 13u);
  EXPECT_EQ(find_token("my_std::thread", "std::thread"), std::string::npos);
}

TEST(FindToken, does_not_take_members_for_free_functions) {
  EXPECT_EQ(find_token("a.rand() b->rand()", "rand("), std::string::npos);
}

TEST(AfterClosing, matches_nested_brackets) {
  EXPECT_EQ(after_closing("f(a(b), c) d", 2, ')'), 10u);
  EXPECT_EQ(after_closing("{ { } ", 1, '}'), 6u);
}

}  // namespace
}  // namespace remora::tidy
