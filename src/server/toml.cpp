#include "server/toml.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

namespace remora::server {
namespace {

constexpr std::size_t most_entries = 10'000;

bool is_bare_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
}

// One line, read from the left.
class TomlLine {
 public:
  TomlLine(std::string_view text, std::size_t number) : rest_(text), number_(number) {}

  Status wrong(std::string_view what) const {
    return Status(Code::invalid_argument,
                  "line " + std::to_string(number_) + ": " + std::string(what));
  }
  std::size_t number() const { return number_; }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }
  // Nothing, or a comment, is left.
  bool at_end() {
    skip_blanks();
    return rest_.empty() || rest_.front() == '#';
  }
  bool take(char letter) {
    skip_blanks();
    if (!rest_.starts_with(letter)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  Status expect_end() {
    return at_end() ? Status() : wrong("something follows where the line should end");
  }

  Result<std::string> key() {
    skip_blanks();
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      return string();
    }
    std::string key;
    while (!rest_.empty() && is_bare_letter(rest_.front())) {
      key += rest_.front();
      rest_.remove_prefix(1);
    }
    if (key.empty()) {
      return wrong("a key is letters, digits, _ and -, or a string in quotes");
    }
    return key;
  }

  Result<std::string> string() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    if (rest_.starts_with(std::string(2, quote))) {
      return wrong("strings over several lines are not supported; write it in one line");
    }
    std::string text;
    while (!rest_.empty() && rest_.front() != quote) {
      char letter = rest_.front();
      rest_.remove_prefix(1);
      if (static_cast<unsigned char>(letter) < ' ' && letter != '\t') {
        return wrong("a control character in a string");
      }
      if (letter == '\\' && quote == '"') {
        const std::optional<char> escaped = escape();
        if (!escaped) {
          return wrong(
              "in a string in double quotes, write \\\\, \\\", \\n or \\t behind a "
              "backslash, or use single quotes");
        }
        letter = *escaped;
      }
      text += letter;
    }
    if (rest_.empty()) {
      return wrong("a string that does not end; close it with its quote");
    }
    rest_.remove_prefix(1);
    return text;
  }

  Result<std::variant<std::string, std::int64_t, bool>> value() {
    using Value = std::variant<std::string, std::int64_t, bool>;
    skip_blanks();
    if (rest_.starts_with('"') || rest_.starts_with('\'')) {
      Result<std::string> text = string();
      return text.ok() ? Result<Value>(Value(std::move(text).value())) : text.status();
    }
    if (rest_.starts_with('[') || rest_.starts_with('{')) {
      return wrong("lists and inline tables are not supported; use a [section]");
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t#"));
    rest_.remove_prefix(word.size());
    if (word == "true" || word == "false") {
      return Value(word == "true");
    }
    return number(word);
  }

 private:
  std::optional<char> escape() {
    constexpr std::pair<char, char> known[] = {{'\\', '\\'}, {'"', '"'}, {'n', '\n'}, {'t', '\t'}};
    for (const auto& [name, letter] : known) {
      if (rest_.starts_with(name)) {
        rest_.remove_prefix(1);
        return letter;
      }
    }
    return std::nullopt;
  }

  Result<std::variant<std::string, std::int64_t, bool>> number(std::string_view word) const {
    const auto expected = "a value is a \"string\", a whole number, true or false";
    std::string digits;
    for (std::size_t i = 0; i < word.size(); ++i) {
      const bool between = i != 0 && i + 1 < word.size() && word[i - 1] != '_';
      if (word[i] != '_' || !between) {
        digits += word[i];
      }
    }
    const std::string_view plain = std::string_view(digits).substr(digits.starts_with('+') ? 1 : 0);
    std::int64_t value = 0;
    const auto [stopped, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
    const bool signed_twice = digits.starts_with('+') && plain.starts_with('-');
    if (error != std::errc() || stopped != plain.data() + plain.size() || signed_twice) {
      return wrong(expected);
    }
    return std::variant<std::string, std::int64_t, bool>(value);
  }

  std::string_view rest_;
  const std::size_t number_;
};

Result<std::string> read_header(TomlLine& line) {
  std::string name;
  do {
    REMORA_TRY_RESULT(part, line.key());
    name += (name.empty() ? "" : ".") + *part;
  } while (line.take('.'));
  if (!line.take(']')) {
    return line.wrong("a section's name ends with ]");
  }
  REMORA_TRY(line.expect_end());
  return name;
}

Result<TomlEntry> read_entry(TomlLine& line, const std::string& section) {
  REMORA_TRY_RESULT(key, line.key());
  if (!line.take('=')) {
    return line.wrong("a key without a value; write KEY = ...");
  }
  REMORA_TRY_RESULT(value, line.value());
  REMORA_TRY(line.expect_end());
  return TomlEntry{section, std::move(key).value(), std::move(value).value(), line.number()};
}

}  // namespace

Result<std::vector<TomlEntry>> parse_toml(std::string_view text) {
  std::vector<TomlEntry> entries;
  std::set<std::string> sections;
  std::set<std::pair<std::string, std::string>> keys;
  std::string section;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view content = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), content.size() + 1));
    if (content.ends_with('\r')) {
      content.remove_suffix(1);
    }
    TomlLine line(content, number);
    if (line.at_end()) {
      continue;
    }
    if (line.take('[')) {
      REMORA_TRY_RESULT(name, read_header(line));
      section = std::move(name).value();
      if (!sections.insert(section).second) {
        return line.wrong("the section [" + section + "] is there twice; put its lines together");
      }
      continue;
    }
    REMORA_TRY_RESULT(entry, read_entry(line, section));
    if (!keys.emplace(section, entry->key).second) {
      return line.wrong("this key is there twice; remove one of them");
    }
    if (entries.size() == most_entries) {
      return line.wrong("too many entries");
    }
    entries.push_back(std::move(entry).value());
  }
  return entries;
}

}  // namespace remora::server
