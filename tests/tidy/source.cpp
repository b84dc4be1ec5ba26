#include "tests/tidy/source.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

namespace remora::tidy {

namespace fs = std::filesystem;

namespace {

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Walks over C++ text, blanking as it goes.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : out_(text) {}

  std::string run() {
    while (at_ < out_.size()) {
      step();
    }
    return std::move(out_);
  }

 private:
  bool here(std::string_view token) const { return out_.compare(at_, token.size(), token) == 0; }
  bool after_name() const { return at_ > 0 && is_name(out_[at_ - 1]); }

  void step() {
    if (here("//")) {
      blank_to(out_.find('\n', at_));
    } else if (here("/*")) {
      const std::size_t end = out_.find("*/", at_ + 2);
      blank_to(end == std::string::npos ? end : end + 2);
    } else if (here("R\"") && !after_name()) {
      raw_string();
    } else if (here("\"")) {
      literal('"');
    } else if (here("'") && !after_name()) {  // after a digit it separates thousands
      literal('\'');
    } else {
      ++at_;
    }
  }

  // Newlines stay, so that lines keep their numbers.
  void blank_to(std::size_t end) {
    for (end = std::min(end, out_.size()); at_ < end; ++at_) {
      out_[at_] = out_[at_] == '\n' ? '\n' : ' ';
    }
  }

  void literal(char quote) {
    std::size_t end = ++at_;
    while (end < out_.size() && out_[end] != quote && out_[end] != '\n') {
      end += out_[end] == '\\' ? 2u : 1u;
    }
    blank_to(end);
    ++at_;
  }

  void raw_string() {
    const std::size_t open = out_.find('(', at_);
    if (open == std::string::npos) {
      at_ += 2;
      return;
    }
    const std::string close = ')' + out_.substr(at_ + 2, open - at_ - 2) + '"';
    at_ += 2;
    blank_to(out_.find(close, open));
    at_ += close.size();
  }

  std::string out_;
  std::size_t at_ = 0;
};

// Of a folder by its path from the root: hidden ones anywhere, what is built and stored at the
// root.
bool is_skipped_folder(const fs::path& folder) {
  const std::string name = folder.filename().string();
  return name.starts_with('.') || folder == "build" || folder == "data" ||
         folder.generic_string().starts_with("build-");
}

bool is_wanted(const std::string& path) {
  for (std::string_view end :
       {".h", ".cpp", ".cmake", "CMakeLists.txt", ".md", ".py", ".sh", ".toml"}) {
    if (path.ends_with(end)) {
      return true;
    }
  }
  return path.starts_with("scripts/") || path == "run" || path == "test";
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

Source::Source(std::string path_in_tree, std::string whole_text)
    : path(std::move(path_in_tree)),
      text(std::move(whole_text)),
      code(is_cpp() ? code_only(text) : text) {}

bool Source::is_cpp() const {
  return is_header() || path.ends_with(".cpp");
}

bool Source::is_header() const {
  return path.ends_with(".h");
}

std::string code_only(std::string_view text) {
  return Blanker(text).run();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t line_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

std::size_t find_token(std::string_view code, std::string_view token, std::size_t start) {
  const bool call = token.ends_with('(');
  for (std::size_t at = code.find(token, start); at != code.npos; at = code.find(token, at + 1)) {
    const char before = at == 0 ? ' ' : code[at - 1];
    const std::size_t end = at + token.size();
    const char after = end < code.size() ? code[end] : ' ';
    const bool longer =
        (is_name(token.front()) && is_name(before)) || (is_name(token.back()) && is_name(after));
    const bool member = call && (before == '.' || before == '>');
    if (!longer && !member) {
      return at;
    }
  }
  return code.npos;
}

std::size_t after_closing(std::string_view code, std::size_t inside, char closing) {
  const char opening = closing == ')' ? '(' : '{';
  int depth = 1;
  for (std::size_t at = inside; at < code.size(); ++at) {
    depth += code[at] == opening ? 1 : 0;
    depth -= code[at] == closing ? 1 : 0;
    if (depth == 0) {
      return at + 1;
    }
  }
  return code.size();
}

std::vector<Source> load_tree(const fs::path& root) {
  std::vector<Source> sources;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::end(it); ++it) {
    const fs::path path = it->path().lexically_relative(root);
    if (it->is_directory() && is_skipped_folder(path)) {
      it.disable_recursion_pending();
    } else if (it->is_regular_file() && is_wanted(path.generic_string())) {
      sources.emplace_back(path.generic_string(), read(it->path()));
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

}  // namespace remora::tidy
