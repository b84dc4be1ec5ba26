#include "server/toml.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace remora::server {
namespace {

std::string message_of(std::string_view text) {
  const Result<std::vector<TomlEntry>> parsed = parse_toml(text);
  return parsed.ok() ? "fine" : std::string(parsed.status().message());
}

TEST(Toml, reads_sections_keys_and_values) {
  const auto entries = parse_toml(
      "# a comment\n"
      "pool = \"a \\\"b\\\" \\\\ \\t\"  # another\n"
      "count = 1_000\r\n"
      "less=-5\n"
      "\n"
      "[access.users]\n"
      "alice = 'w\\n'\n"
      "\"two words\" = true\n"
      "off = false");
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 6u);
  EXPECT_EQ(std::get<std::string>((*entries)[0].value), "a \"b\" \\ \t");
  EXPECT_EQ((*entries)[0].line, 2u);
  EXPECT_EQ(std::get<std::int64_t>((*entries)[1].value), 1000);
  EXPECT_EQ(std::get<std::int64_t>((*entries)[2].value), -5);
  EXPECT_EQ((*entries)[3].section, "access.users");
  EXPECT_EQ(std::get<std::string>((*entries)[3].value), "w\\n");
  EXPECT_EQ((*entries)[4].key, "two words");
  EXPECT_TRUE(std::get<bool>((*entries)[4].value));
  EXPECT_EQ((*entries)[5].line, 9u);
}

TEST(Toml, names_the_line_and_what_is_wrong) {
  EXPECT_EQ(message_of("a = 1\n\nb\n"), "line 3: a key without a value; write KEY = ...");
  EXPECT_EQ(message_of("a = 1\na = 2"), "line 2: this key is there twice; remove one of them");
  EXPECT_EQ(message_of("[x]\n[x]"),
            "line 2: the section [x] is there twice; put its lines together");
  EXPECT_EQ(message_of("a = \"x"), "line 1: a string that does not end; close it with its quote");
  EXPECT_EQ(message_of("a = 1 2"), "line 1: something follows where the line should end");
  EXPECT_NE(message_of("a = [1]").find("lists"), std::string::npos);
  EXPECT_NE(message_of("a = 1.5").find("whole number"), std::string::npos);
  EXPECT_NE(message_of("a = 99999999999999999999").find("whole number"), std::string::npos);
  EXPECT_NE(message_of("a = +-1").find("whole number"), std::string::npos);
  EXPECT_NE(message_of("a = \"\"\"x\"\"\"").find("several lines"), std::string::npos);
  EXPECT_NE(message_of("a = \"\\q\"").find("backslash"), std::string::npos);
  EXPECT_NE(message_of("[a").find("]"), std::string::npos);
  EXPECT_NE(message_of("= 1").find("key"), std::string::npos);
}

TEST(Toml, repeats_no_secret) {
  for (const char* text : {"[t]\n\"a secret\" = 1\n\"a secret\" = 2", "\"a secret\"",
                           "\"a secret\" = a secret", "\"a secret\" = \"a secret"}) {
    EXPECT_EQ(message_of(text).find("secret"), std::string::npos) << message_of(text);
  }
}

TEST(Toml, the_same_key_may_be_in_two_sections) {
  EXPECT_EQ(parse_toml("a=1\n[x]\na=2\n[x.y]\na=3")->size(), 3u);
}

TEST(Toml, survives_any_text) {
  Random random(1);
  constexpr std::string_view letters = "ab=[]\"'\\#.\n 1_-+tru\t\x01\xff";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(40), ' ');
    for (char& letter : text) {
      letter = letters[random.below(letters.size())];
    }
    const Result<std::vector<TomlEntry>> parsed = parse_toml(text);
    EXPECT_TRUE(parsed.ok() || parsed.status().message().starts_with("line "));
  }
}

}  // namespace
}  // namespace remora::server
