#include "tests/tidy/texts.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace remora::tidy {

namespace {

constexpr std::string_view settings_file = "packaging/remora.toml";

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

bool is_blank(char c) {
  return c == ' ' || c == '\n';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// Two words of two letters at least, with a space between them; and no instructions of a processor.
bool says_something(std::string_view text) {
  if (text.find("%[") != text.npos) {
    return false;
  }
  int words = 0;
  int letters = 0;
  bool apart = true;
  for (const char c : text) {
    letters = is_letter(c) ? letters + 1 : 0;
    apart = apart || is_blank(c);
    if (letters == 2 && apart) {
      ++words;
      apart = false;
    }
  }
  return words >= 2;
}

std::string unescaped(std::string_view literal) {
  std::string text;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    const bool escape = literal[i] == '\\' && i + 1 < literal.size();
    const char c = escape ? literal[++i] : literal[i];
    text += escape && (c == 'n' || c == 'r' || c == 't') ? (c == 'n' ? '\n' : ' ') : c;
  }
  return text;
}

// Reads string literals, and those that are joined to them. In `code` their insides are blank, so a
// quotation mark there opens or closes a literal.
class Literals {
 public:
  explicit Literals(const Source& source) : text_(source.text), code_(source.code) {}

  std::vector<Text> all(const std::string& path) {
    std::vector<Text> found;
    for (std::size_t at = next(0); at != code_.npos; at = next(end_of(at))) {
      if (joined_.contains(at) || is_of_preprocessor(at)) {
        continue;
      }
      std::string text = chain(at);
      if (says_something(text)) {
        found.push_back({path, line_at(code_, at), std::move(text)});
      }
    }
    return found;
  }

 private:
  std::size_t next(std::size_t from) const { return code_.find('"', from); }
  std::size_t end_of(std::size_t quote) const {
    const std::size_t close = code_.find('"', quote + 1);
    return close == code_.npos ? code_.size() : close + 1;
  }

  bool is_of_preprocessor(std::size_t at) const {
    const std::size_t line = code_.rfind('\n', at) + 1;  // npos + 1 is 0
    return trimmed(code_.substr(line, at - line)).starts_with("#include");
  }

  std::string value(std::size_t quote) const {
    std::string_view inside = text_.substr(quote + 1, end_of(quote) - quote - 2);
    if (quote > 0 && code_[quote - 1] == 'R') {
      inside.remove_prefix(inside.find('(') + 1);
      return std::string(inside.substr(0, inside.rfind(')')));
    }
    return unescaped(inside);
  }

  std::size_t after_blanks(std::size_t at) const {
    return std::min(code_.find_first_not_of(" \n", at), code_.size());
  }

  // What stands before the literal, without the conversion to a string around it.
  std::string_view before(std::size_t quote) const {
    std::string_view code = trimmed(code_.substr(0, quote));
    for (std::string_view conversion : {"std::string(", "std::string_view("}) {
      if (code.ends_with(conversion)) {
        code.remove_suffix(conversion.size());
      }
    }
    return trimmed(code);
  }

  bool is_converted(std::size_t quote) const {
    return before(quote).size() != trimmed(code_.substr(0, quote)).size();
  }

  // The literal and those that follow by adjacency or `+`.
  std::string chain(std::size_t first) {
    std::string text = before(first).ends_with('+') ? "{}" : "";
    std::size_t at = first;
    while (at < code_.size()) {
      if (code_[at] == '"') {
        joined_.insert(at);
        text += value(at);
        const bool converted = is_converted(at);
        at = after_blanks(end_of(at));
        if (converted && at < code_.size() && code_[at] == ')') {
          at = after_blanks(at + 1);
        }
      } else if (code_[at] == '+') {
        at = after_operand(after_blanks(at + 1), text);
      } else {
        break;
      }
    }
    return text;
  }

  // Where to go on behind a `+`: at a literal, or behind an operand that is none.
  std::size_t after_operand(std::size_t at, std::string& text) const {
    for (std::string_view conversion : {"", "std::string(", "std::string_view("}) {
      const std::size_t quote = after_blanks(at + conversion.size());
      if (code_.substr(at, conversion.size()) == conversion && quote < code_.size() &&
          code_[quote] == '"') {
        return quote;
      }
    }
    text += "{}";
    int depth = 0;
    for (; at < code_.size(); ++at) {
      const char c = code_[at];
      const bool opens = c == '(' || c == '[' || c == '{';
      const bool closes = c == ')' || c == ']' || c == '}';
      if (depth == 0 && (closes || c == '+' || c == ',' || c == ';' || c == '?' || c == ':')) {
        const bool scope = c == ':' && (code_[at + 1] == ':' || code_[at - 1] == ':');
        if (!scope) {
          return at;
        }
      }
      depth += opens ? 1 : closes ? -1 : 0;
    }
    return at;
  }

  std::string_view text_;
  std::string_view code_;
  std::set<std::size_t> joined_;
};

// Collects lines that belong together.
class Paragraphs {
 public:
  explicit Paragraphs(std::string path) : path_(std::move(path)) {}

  void add(std::size_t line, std::string_view text) {
    if (open_.empty()) {
      line_ = line;
    } else {
      open_ += '\n';
    }
    open_ += text;
  }
  void end() {
    if (!trimmed(open_).empty()) {
      found_.push_back({path_, line_, std::move(open_)});
    }
    open_.clear();
  }
  std::vector<Text> take() {
    end();
    return std::move(found_);
  }

 private:
  std::string path_;
  std::size_t line_ = 0;
  std::string open_;
  std::vector<Text> found_;
};

// What stands between `ticks` is a name, not a sentence.
std::string without_code(std::string_view line) {
  std::string plain(line);
  bool code = false;
  for (char& c : plain) {
    const bool tick = c == '`';
    code = code != tick;
    c = code || tick ? '_' : c;
  }
  return plain;
}

bool is_heading(std::string_view line) {
  return line.starts_with('#');
}

bool begins_block(std::string_view line) {
  return is_heading(line) || line.starts_with("- ") || line.starts_with("* ") ||
         (!line.empty() && std::isdigit(static_cast<unsigned char>(line.front())) != 0 &&
          line.substr(0, 4).find(". ") != line.npos);
}

void add_cells(Paragraphs& paragraphs, std::size_t number, std::string_view line) {
  while (!line.empty()) {
    const std::size_t bar = std::min(line.find('|'), line.size());
    paragraphs.end();
    paragraphs.add(number, line.substr(0, bar));
    line.remove_prefix(std::min(bar + 1, line.size()));
  }
  paragraphs.end();
}

std::vector<Text> paragraphs_of(const Source& source) {
  Paragraphs paragraphs(source.path);
  bool fenced = false;
  std::size_t number = 0;
  for (const std::string_view raw : lines_of(source.text)) {
    ++number;
    const std::string plain = without_code(raw.starts_with("```") ? "" : raw);
    const std::string_view line = trimmed(plain);
    fenced = fenced != raw.starts_with("```");
    if (fenced || line.empty()) {
      paragraphs.end();
    } else if (line.starts_with('|')) {
      add_cells(paragraphs, number, line);
    } else {
      if (begins_block(line)) {
        paragraphs.end();
      }
      paragraphs.add(number, line);
      if (is_heading(line)) {
        paragraphs.end();
      }
    }
  }
  return paragraphs.take();
}

// Whether this is within a string literal, of which `code` has the quotation marks alone.
bool is_literal(std::string_view code_line, std::size_t at) {
  return std::ranges::count(code_line.substr(0, at), '"') % 2 == 1;
}

// Remarks that begin with `mark` and stand one below the other are one text.
std::vector<Text> remarks_of(const Source& source, std::string_view mark) {
  Paragraphs paragraphs(source.path);
  const std::vector<std::string_view> code = lines_of(source.code);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(source.text)) {
    ++number;
    std::size_t at = line.find(mark);
    while (at != line.npos && source.is_cpp() && is_literal(code[number - 1], at)) {
      at = line.find(mark, at + 1);
    }
    if (at == line.npos) {
      paragraphs.end();
      continue;
    }
    if (!trimmed(line.substr(0, at)).empty()) {
      paragraphs.end();  // beside code
    }
    const std::string_view remark = trimmed(line.substr(at + mark.size()));
    if (remark.empty()) {
      paragraphs.end();
    } else {
      paragraphs.add(number, remark);
    }
  }
  return paragraphs.take();
}

}  // namespace

bool has_messages(std::string_view path) {
  if (path == settings_file) {
    return true;
  }
  const bool product =
      path.starts_with("src/") || path.starts_with("lab/") || path.starts_with("include/");
  const bool tests = path.ends_with("_test.cpp") || path.find("_testing.") != path.npos ||
                     path.find("_fixture.") != path.npos || path.find("/fuzz/") != path.npos ||
                     path.find("/testing/") != path.npos;
  return product && !tests && (path.ends_with(".cpp") || path.ends_with(".h"));
}

std::vector<Text> messages_of(const Source& source) {
  if (source.path == settings_file) {
    return remarks_of(source, "# ");
  }
  return Literals(source).all(source.path);
}

bool has_prose(std::string_view path) {
  return path == "README.md" || path == "ARCHITECTURE.md" || path == "CONTRIBUTING.md" ||
         (path.starts_with("docs/") && path.ends_with(".md")) ||
         (path.starts_with("include/") && path.ends_with(".h"));
}

std::vector<Text> prose_of(const Source& source) {
  return source.is_cpp() ? remarks_of(source, "//") : paragraphs_of(source);
}

}  // namespace remora::tidy
