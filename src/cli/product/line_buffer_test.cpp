#include "cli/product/line_buffer.h"

#include <gtest/gtest.h>

namespace remora::cli {
namespace {

using Event = LineBuffer::Event;

const std::vector<std::string> no_lines;

Event type(LineBuffer& line, std::string_view keys) {
  Event last = Event::none;
  for (const char key : keys) {
    last = line.take(key);
  }
  return last;
}

TEST(LineBuffer, takes_letters_and_ends_with_enter) {
  LineBuffer line(no_lines);
  EXPECT_EQ(type(line, "get a"), Event::changed);
  EXPECT_EQ(type(line, "\r"), Event::finished);
  EXPECT_EQ(line.text(), "get a");
}

TEST(LineBuffer, moves_and_inserts) {
  LineBuffer line(no_lines);
  type(line, "bd\033[Dc\001a\005e");
  EXPECT_EQ(line.text(), "abcde");
  EXPECT_EQ(line.cursor(), 5u);
  type(line, "\033[H\033[Cx\033[F!");
  EXPECT_EQ(line.text(), "axbcde!");
}

TEST(LineBuffer, erases_letters_words_and_ends) {
  LineBuffer line(no_lines);
  type(line, "put key value\177");
  EXPECT_EQ(line.text(), "put key valu");
  type(line, "\027");
  EXPECT_EQ(line.text(), "put key ");
  type(line, "\033[D\033[D\013");
  EXPECT_EQ(line.text(), "put ke");
  type(line, "\001\033[3~");
  EXPECT_EQ(line.text(), "ut ke");
  type(line, "\005\025");
  EXPECT_EQ(line.text(), "");
}

TEST(LineBuffer, moves_by_letters_and_not_by_bytes) {
  LineBuffer line(no_lines);
  type(line, "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(line.cursor_column(), 4u);
  type(line, "\033[D\033[D\177");
  EXPECT_EQ(line.text(), "g\xc3\xbc\xc3\x9f");
  type(line, "\033[3~");
  EXPECT_EQ(line.text(), "g\xc3\x9f");
}

TEST(LineBuffer, recalls_earlier_lines_and_what_was_typed) {
  const std::vector<std::string> before = {"first", "second"};
  LineBuffer line(before);
  type(line, "new\033[A");
  EXPECT_EQ(line.text(), "second");
  type(line, "\033[A\033[A");
  EXPECT_EQ(line.text(), "first");
  type(line, "\033[B\033[B");
  EXPECT_EQ(line.text(), "new");
  EXPECT_EQ(type(line, "\033[B"), Event::none);
}

TEST(LineBuffer, tells_the_end_from_a_delete) {
  LineBuffer line(no_lines);
  EXPECT_EQ(type(line, "\004"), Event::ended);
  type(line, "ab\001\004");
  EXPECT_EQ(line.text(), "b");
  EXPECT_EQ(type(line, "\003"), Event::cancelled);
}

TEST(LineBuffer, ignores_sequences_that_it_does_not_know) {
  LineBuffer line(no_lines);
  type(line, "a\033[1;5Zb\033xc\033OPd");
  EXPECT_EQ(line.text(), "abcd");
}

}  // namespace
}  // namespace remora::cli
