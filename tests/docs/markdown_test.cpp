#include "tests/docs/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace remora::docs {
namespace {

constexpr std::string_view document =
    "# Title\n"
    "See [one](a.md#part), `[code](not.md)` and [two](https://example.org/x).\n"
    "```sh\n"
    "# a remark\n"
    "first\n"
    "\n"
    "second --with \\\n"
    "  more\n"
    "third  # exits with 3\n"
    "fourth # of many\n"
    "```\n"
    "![three](#here) [four](../b.h)\n"
    "```text\n"
    "[five](c.md)\n"
    "```\n"
    "    indented\n"
    "```sh\n"
    "fifth\n"
    "```\n";

TEST(Markdown, finds_fenced_blocks) {
  const std::vector<Block> blocks = blocks_of(document);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[1].kind, "text");
  EXPECT_EQ(blocks[1].line, 14u);
  EXPECT_EQ(blocks[1].text, "[five](c.md)\n");
}

TEST(Markdown, finds_commands_and_their_exit_status) {
  const std::vector<Command> commands = commands_of(document);
  ASSERT_EQ(commands.size(), 5u);
  EXPECT_EQ(commands[0].text, "first");
  EXPECT_EQ(commands[0].line, 5u);
  EXPECT_EQ(commands[1].text, "second --with   more");
  EXPECT_EQ(commands[1].line, 7u);
  EXPECT_EQ(commands[2].text, "third");
  EXPECT_EQ(commands[2].line, 9u);
  EXPECT_EQ(commands[2].exit_status, 3);
  EXPECT_EQ(commands[3].text, "fourth # of many");
  EXPECT_EQ(commands[3].exit_status, 0);
  EXPECT_EQ(commands[4].line, 18u);
}

TEST(Markdown, finds_links_outside_code) {
  std::vector<std::string> files;
  for (const Link& link : links_of(document)) {
    files.push_back(file_of(link));
  }
  EXPECT_THAT(files, testing::ElementsAre("a.md", "", "", "../b.h"));
  EXPECT_EQ(links_of(document)[3].line, 12u);
}

}  // namespace
}  // namespace remora::docs
