#include "tests/tidy/texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace remora::tidy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> contents(const std::vector<Text>& texts) {
  std::vector<std::string> all;
  for (const Text& text : texts) {
    all.push_back(text.text);
  }
  return all;
}

std::vector<std::string> messages(std::string code) {
  return contents(messages_of(Source("src/kv/a.cpp", std::move(code))));
}

std::vector<std::string> paragraphs(std::string document) {
  return contents(prose_of(Source("docs/a.md", std::move(document))));
}

TEST(Messages, are_literals_of_two_words) {
  EXPECT_THAT(messages("f(\"no such key\"); g(\"key\", 'a', \"%s %d\");\n#include \"two words.h\"\n"
                       "// \"a remark here\"\n"),
              ElementsAre("no such key"));
}

TEST(Messages, are_no_instructions) {
  EXPECT_THAT(messages("asm(\"mov (%[from]), %%zmm16\");"), IsEmpty());
}

TEST(Messages, join_what_the_compiler_joins) {
  EXPECT_THAT(messages("f(\"no such \"\n  \"key\", \"of the store\");"),
              ElementsAre("no such key", "of the store"));
}

TEST(Messages, show_what_is_filled_in) {
  EXPECT_THAT(messages("f(\"no key \" + quoted(key, 2) + \" in \" + std::string(name));"),
              ElementsAre("no key {} in {}"));
  EXPECT_THAT(messages("f(name + \" is not a size\");"), ElementsAre("{} is not a size"));
  EXPECT_THAT(messages("f(std::string(\"no key \") + (a::b ? c : d) + \"; look\", e);"),
              ElementsAre("no key {}; look"));
}

TEST(Messages, within_an_operand_are_their_own) {
  EXPECT_THAT(messages("f(\"cannot open \" + named(\"two files\") + \" now\");"),
              ElementsAre("cannot open {} now", "two files"));
}

TEST(Messages, keep_raw_literals_and_escapes) {
  EXPECT_THAT(messages("f(R\"(say \"yes\" now)\", \"say \\\"no\\\"\\nnow\");"),
              ElementsAre("say \"yes\" now", "say \"no\"\nnow"));
}

TEST(Messages, have_the_line_that_they_begin_in) {
  const std::vector<Text> found = messages_of(Source("src/a.cpp", "\nf(\n  \"no such key\");"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].line, 3u);
}

TEST(Messages, are_those_of_the_product) {
  EXPECT_TRUE(has_messages("src/kv/store.cpp"));
  EXPECT_TRUE(has_messages("lab/crash/subject.h"));
  EXPECT_TRUE(has_messages("packaging/remora.toml"));
  EXPECT_FALSE(has_messages("src/kv/store_test.cpp"));
  EXPECT_FALSE(has_messages("src/kv/store_testing.h"));
  EXPECT_FALSE(has_messages("src/kv/fuzz/a.cpp"));
  EXPECT_FALSE(has_messages("src/kv/testing/a.h"));
  EXPECT_FALSE(has_messages("tests/tidy_test.cpp"));
}

TEST(Messages, of_settings_are_remarks) {
  EXPECT_THAT(contents(messages_of(Source("packaging/remora.toml",
                                          "# The store: a file.\n# Or memory.\npool = \"a b\"\n"
                                          "#size = \"1\"\n"))),
              ElementsAre("The store: a file.\nOr memory."));
}

TEST(Prose, of_a_document_is_paragraphs_items_and_cells) {
  EXPECT_THAT(
      paragraphs("# Title\nOne\ntwo.\n- item\n  goes on\n- next\n1. first\n\n| a | b |\n"),
      ElementsAre("# Title", "One\ntwo.", "- item\ngoes on", "- next", "1. first", " a ", " b "));
}

TEST(Prose, of_a_document_has_no_code) {
  EXPECT_THAT(paragraphs("```sh\nfor who\n```\nsay `anew` now\n"), ElementsAre("say ______ now"));
}

TEST(Prose, of_a_header_is_its_comments) {
  EXPECT_THAT(contents(prose_of(Source("include/remora/a.h",
                                       "// One\n// two.\n//\n// Three.\nint a = 1;  // beside\n"
                                       "f(\"http://x\");\n"))),
              ElementsAre("One\ntwo.", "Three.", "beside"));
}

}  // namespace
}  // namespace remora::tidy
