// Prints the messages of the product, one in a line, in the order of the files:
//   src/kv/engine.cpp:42: no engine is named {}
// Arguments: the root of the tree, and what the paths begin with; without these, all.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/tidy/texts.h"

namespace remora::tidy {
namespace {

std::string in_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    line += c == '\n' ? "\\n" : std::string(1, c);
  }
  return line;
}

void print_messages(const Source& source) {
  for (const Text& message : messages_of(source)) {
    std::printf("%s:%zu: %s\n", message.path.c_str(), message.line,
                in_one_line(message.text).c_str());
  }
}

}  // namespace
}  // namespace remora::tidy

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: messages ROOT [PATH...]\n", stderr);
    return 2;
  }
  const std::vector<std::string> begins(argv + 2, argv + argc);
  for (const remora::tidy::Source& source : remora::tidy::load_tree(argv[1])) {
    const bool wanted =
        begins.empty() || std::ranges::any_of(begins, [&](const std::string& begin) {
          return source.path.starts_with(begin);
        });
    if (wanted && remora::tidy::has_messages(source.path)) {
      remora::tidy::print_messages(source);
    }
  }
}
