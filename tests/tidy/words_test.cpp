// Each turn that the rule knows, and what it must leave alone.
#include "tests/tidy/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace remora::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::size_t> complained(const std::vector<Finding>& findings) {
  std::vector<std::size_t> numbers;
  for (const Finding& finding : findings) {
    numbers.push_back(finding.line);
  }
  return numbers;
}

std::vector<std::size_t> complaints(std::string text) {
  return complained(check_words(Text{"docs/a.md", 1, std::move(text)}));
}

TEST(Words, that_are_read_twice_are_found) {
  for (const char* text :
       {"For who opens what is there.", "open for who has a token", "nobody who asks",
        "Whoever asks is told", "when there is none", "'x' is none of a, b", "it connects anew",
        "a thread beside the server", "this client may read alone", "Who asks is told.",
        "It ends. Whose link is lost is told."}) {
    EXPECT_THAT(complaints(text), testing::SizeIs(1)) << text;
  }
}

TEST(Words, of_plain_sentences_are_left_alone) {
  for (const char* text :
       {"the one who asked was told", "a reader, whose rights are fewer", "for whom it was made",
        "none is left", "read-only client", "next to the server", "a canew"}) {
    EXPECT_THAT(complaints(text), IsEmpty()) << text;
  }
}

TEST(Words, are_found_across_lines_and_told_by_line) {
  EXPECT_THAT(complaints("one\ntwo for\nwho\nthree\nanew"), ElementsAre(2, 5));
}

TEST(Words, say_what_to_write_instead) {
  const std::vector<Finding> findings =
      check_words(Source("src/a.cpp", "\nf(\"this client \"\n\"may read alone\");\n"));
  ASSERT_THAT(complained(findings), ElementsAre(2));
  EXPECT_THAT(findings[0].message, HasSubstr("read-only"));
}

TEST(Words, hold_for_messages_documents_and_public_headers) {
  EXPECT_THAT(complained(check_words(Source("src/a.cpp", "// anew\nf(\"once anew\");\n"))),
              ElementsAre(2))
      << "comments inside of the house are no message";
  EXPECT_THAT(complained(check_words(Source("include/remora/a.h", "// anew\nf(\"once anew\");\n"))),
              ElementsAre(2, 1));
  EXPECT_THAT(complained(check_words(Source("README.md", "Made anew.\n"))), ElementsAre(1));
  EXPECT_THAT(check_words(Source("tests/vm/README.md", "Made anew.\n")), IsEmpty());
}

}  // namespace
}  // namespace remora::tidy
