#include "cli/product/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace remora::cli {
namespace {

constexpr std::pair<char, char> word_escapes[] = {
    {'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}};

std::optional<unsigned> digit_of(char letter) {
  constexpr std::string_view digits = "0123456789abcdef";
  const char lower = letter >= 'A' && letter <= 'F' ? static_cast<char>(letter + 32) : letter;
  const std::size_t value = digits.find(lower);
  return value == std::string_view::npos ? std::nullopt
                                         : std::optional(static_cast<unsigned>(value));
}

// What stands behind a backslash; it is removed from `rest`.
std::optional<char> take_escape(std::string_view& rest) {
  for (const auto& [name, letter] : word_escapes) {
    if (rest.starts_with(name)) {
      rest.remove_prefix(1);
      return letter;
    }
  }
  if (rest.size() >= 3 && rest[0] == 'x' && digit_of(rest[1]) && digit_of(rest[2])) {
    const unsigned value = *digit_of(rest[1]) * 16 + *digit_of(rest[2]);
    rest.remove_prefix(3);
    return static_cast<char>(value);
  }
  return std::nullopt;
}

// The text up to the closing quote; `rest` begins behind the opening one.
Result<std::string> take_quoted(std::string_view& rest, char quote) {
  std::string text;
  while (!rest.empty() && rest.front() != quote) {
    char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == '\\' && quote == '"') {
      const std::optional<char> escaped = take_escape(rest);
      if (!escaped) {
        return Status(Code::invalid_argument,
                      "behind a backslash comes \" \\ n r t or xNN; or use single quotes");
      }
      letter = *escaped;
    }
    text += letter;
  }
  if (rest.empty()) {
    return Status(Code::invalid_argument, fmt::format("a {} that is not closed", quote));
  }
  rest.remove_prefix(1);
  return text;
}

// The length of the UTF-8 letter at the front, 0 when there is none that can be shown.
std::size_t letter_bytes(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return first >= ' ' && first != 0x7f ? 1 : 0;
  }
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || text.size() < length) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool control = first == 0xc2 && byte(1) < 0xa0;  // C1
  return control ? 0 : length;
}

}  // namespace

Result<std::vector<Word>> split_line(std::string_view line) {
  std::vector<Word> words;
  bool in_word = false;
  while (!line.empty()) {
    const char letter = line.front();
    line.remove_prefix(1);
    if (letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n') {
      in_word = false;
      continue;
    }
    if (!in_word) {
      words.emplace_back();
      in_word = true;
    }
    if (letter != '"' && letter != '\'') {
      words.back().text += letter;
      continue;
    }
    REMORA_TRY_RESULT(quoted, take_quoted(line, letter));
    words.back().text += *quoted;
    words.back().is_quoted = true;
  }
  return words;
}

Result<std::vector<std::string>> split_words(std::string_view line) {
  REMORA_TRY_RESULT(words, split_line(line));
  std::vector<std::string> texts;
  for (Word& word : *words) {
    texts.push_back(std::move(word.text));
  }
  return texts;
}

bool is_showable(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = letter_bytes(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
  return true;
}

std::string shown(std::string_view bytes) {
  if (is_showable(bytes)) {
    return std::string(bytes);
  }
  std::string text = "\"";
  while (!bytes.empty()) {
    const char letter = bytes.front();
    const auto escape = std::ranges::find_if(
        word_escapes, [&](const auto& known) { return known.second == letter; });
    const std::size_t length = letter_bytes(bytes);
    if (escape != std::end(word_escapes)) {
      text += {'\\', escape->first};
    } else if (length != 0) {
      text += bytes.substr(0, length);
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    }
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text + "\"";
}

}  // namespace remora::cli
