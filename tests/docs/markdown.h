// What the tests of the documents read out of Markdown: fenced blocks, the commands in them, links.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace remora::docs {

// A fenced block: what stands between ```kind and ```.
struct Block {
  std::string kind;      // empty if the fence names none
  std::size_t line = 0;  // of its first line of content, from 1
  std::string text;
};

std::vector<Block> blocks_of(std::string_view document);

// A command that a document shows, and what it says of its exit status.
struct Command {
  std::size_t line = 0;
  std::string text;
  int exit_status = 0;  // another one if the line ends with "# exits with N"
};

// The commands of every ```sh block, in order. A line is one command; a backslash at its end joins
// the next to it. Empty lines and lines that are only a comment are none.
std::vector<Command> commands_of(std::string_view document);

struct Link {
  std::size_t line = 0;
  std::string target;
};

// The targets of [text](target) and ![text](target) outside fenced blocks and `code`.
std::vector<Link> links_of(std::string_view document);

// The file that a link leads to, from the folder of its document: without what follows '#'. Empty
// for links that lead elsewhere (http:, mailto:) or stay within the page.
std::string file_of(const Link& link);

}  // namespace remora::docs
