#include "cli/product/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace remora::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Words, are_parted_by_blanks) {
  EXPECT_THAT(*split_words("  put key\tvalue \r\n"), ElementsAre("put", "key", "value"));
  EXPECT_THAT(*split_words("   "), IsEmpty());
}

TEST(Words, are_held_together_by_quotes) {
  EXPECT_THAT(*split_words(R"(put "a b" 'c "d"' e"f g"h "")"),
              ElementsAre("put", "a b", "c \"d\"", "ef gh", ""));
}

TEST(Words, know_escapes_in_double_quotes_alone) {
  EXPECT_THAT(*split_words(R"("\x00\n\t\\\"" '\n' \n)"),
              ElementsAre(std::string("\0\n\t\\\"", 5), "\\n", "\\n"));
}

TEST(Words, refuse_what_is_not_closed_or_not_known) {
  for (const char* line : {"\"abc", "'abc", "\"\\q\"", "\"\\x1\"", "\"\\"}) {
    EXPECT_EQ(split_words(line).code(), Code::invalid_argument) << line;
  }
}

TEST(Shown, leaves_text_as_it_is) {
  for (const char* text : {"", "plain", "two words", "gr\xc3\xbc\xc3\x9f", "\xf0\x9f\x90\x9f"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Shown, quotes_what_a_terminal_would_obey) {
  EXPECT_EQ(shown("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(shown("\033[2J"), "\"\\x1b[2J\"");
  EXPECT_EQ(shown("\xff"), "\"\\xff\"");
  EXPECT_EQ(shown("\xc2\x9b"), "\"\\xc2\\x9b\"");
}

TEST(Shown, is_read_back_as_it_was) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(1 + random.below(20), '\0');
    for (char& byte : bytes) {
      byte = static_cast<char>(random.below(256));
    }
    if (!is_showable(bytes)) {
      EXPECT_THAT(*split_words(shown(bytes)), ElementsAre(bytes));
    }
  }
}

TEST(Words, tells_which_were_in_quotes) {
  const Result<std::vector<Word>> line = split_line("put --x '--y' a\"b\"");
  ASSERT_TRUE(line.ok());
  std::string seen;
  for (const Word& word : *line) {
    seen += word.text + (word.is_quoted ? "! " : " ");
  }
  EXPECT_EQ(seen, "put --x --y! ab! ");
}

}  // namespace
}  // namespace remora::cli
