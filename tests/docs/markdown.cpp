#include "tests/docs/markdown.h"

#include <regex>

namespace remora::docs {
namespace {

struct Line {
  std::size_t number;
  std::string_view text;
  bool fence;   // opens or closes a block
  bool inside;  // belongs to one
};

std::vector<Line> lines_of(std::string_view document) {
  std::vector<Line> lines;
  bool inside = false;
  for (std::size_t number = 1; !document.empty(); ++number) {
    const std::size_t end = document.find('\n');
    const std::string_view text = document.substr(0, end);
    document = end == document.npos ? std::string_view() : document.substr(end + 1);
    const bool fence = text.starts_with("```");
    inside = inside != fence;
    lines.push_back({number, text, fence, inside && !fence});
  }
  return lines;
}

// Spaces in place of `code`, so that it is not read as text.
std::string without_code(std::string_view text) {
  std::string plain(text);
  bool code = false;
  for (char& c : plain) {
    const bool tick = c == '`';
    code = code != tick;
    c = code || tick ? ' ' : c;
  }
  return plain;
}

void add_command(std::size_t line, const std::string& text, std::vector<Command>& commands) {
  static const std::regex remark(R"(\s+# exits with (\d+)$)");
  const std::size_t start = text.find_first_not_of(' ');
  if (start == std::string::npos || text[start] == '#') {
    return;
  }
  std::smatch match;
  const int exit_status = std::regex_search(text, match, remark) ? std::stoi(match[1]) : 0;
  commands.push_back({line, std::regex_replace(text, remark, ""), exit_status});
}

void add_commands(const Block& block, std::vector<Command>& commands) {
  std::string joined;
  std::size_t first = block.line;
  for (const Line& line : lines_of(block.text)) {
    const bool continues = line.text.ends_with('\\');
    joined += line.text.substr(0, line.text.size() - (continues ? 1 : 0));
    if (!continues) {
      add_command(first, joined, commands);
      joined.clear();
      first = block.line + line.number;
    }
  }
}

}  // namespace

std::vector<Block> blocks_of(std::string_view document) {
  std::vector<Block> blocks;
  bool open = false;
  for (const Line& line : lines_of(document)) {
    if (line.fence) {
      open = !open;
      if (open) {
        blocks.push_back({std::string(line.text.substr(3)), line.number + 1, ""});
      }
    } else if (open) {
      blocks.back().text += std::string(line.text) + "\n";
    }
  }
  return blocks;
}

std::vector<Command> commands_of(std::string_view document) {
  std::vector<Command> commands;
  for (const Block& block : blocks_of(document)) {
    if (block.kind == "sh") {
      add_commands(block, commands);
    }
  }
  return commands;
}

std::vector<Link> links_of(std::string_view document) {
  static const std::regex link(R"(\]\(([^)\s]+)[^)]*\))");
  std::vector<Link> links;
  for (const Line& line : lines_of(document)) {
    if (line.fence || line.inside) {
      continue;
    }
    const std::string text = without_code(line.text);
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      links.push_back({line.number, (*it)[1]});
    }
  }
  return links;
}

std::string file_of(const Link& link) {
  static const std::regex elsewhere("^[a-z]+:.*");
  return std::regex_match(link.target, elsewhere) ? ""
                                                  : link.target.substr(0, link.target.find('#'));
}

}  // namespace remora::docs
