#include "tests/tidy/words.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace remora::tidy {

namespace {

struct Turn {
  std::string_view words;  // in lower case
  std::string_view instead;
  bool capital = false;  // only where it begins a sentence
};

constexpr Turn turns[] = {
    {"who", "begin the sentence with its subject (\"A client that ...\")", true},
    {"whose", "begin the sentence with its subject", true},
    {"for who", "say for which client, user or caller"},
    {"nobody who", "say which one does not"},
    {"whoever", "name the subject: a client, a reader, the owner"},
    {"is none", "say what is missing (\"no such key\", \"not a number\")"},
    {"anew", "say \"again\", or what is made"},
    {"beside the", "say \"next to\", \"besides\", \"with\" or \"as well as\""},
    {"may read alone", "say \"read-only\""},
};

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

}  // namespace

std::vector<Finding> check_words(const Text& text) {
  std::string plain = text.text;
  std::ranges::transform(plain, plain.begin(), [](char c) { return c == '\n' ? ' ' : lower(c); });
  std::vector<Finding> findings;
  for (const Turn& turn : turns) {
    for (std::size_t at = find_token(plain, turn.words); at != plain.npos;
         at = find_token(plain, turn.words, at + 1)) {
      const char first = text.text[at];
      if (!turn.capital || lower(first) != first) {
        findings.push_back({text.path, text.line + line_at(text.text, at) - 1,
                            "\"" + std::string(turn.words) +
                                "\" makes people read twice: " + std::string(turn.instead)});
      }
    }
  }
  return findings;
}

std::vector<Finding> check_words(const Source& source) {
  std::vector<Text> texts;
  if (has_messages(source.path)) {
    texts = messages_of(source);
  }
  if (has_prose(source.path)) {
    const std::vector<Text> prose = prose_of(source);
    texts.insert(texts.end(), prose.begin(), prose.end());
  }
  std::vector<Finding> findings;
  for (const Text& text : texts) {
    const std::vector<Finding> found = check_words(text);
    findings.insert(findings.end(), found.begin(), found.end());
  }
  return findings;
}

}  // namespace remora::tidy
