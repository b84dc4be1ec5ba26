#include "front/resp/glob.h"

#include <utility>

namespace remora::resp {
namespace {

// Whether the set at the start of the pattern, behind its bracket, has the letter; the pattern is
// moved to the closing bracket, or to its last letter when there is none.
bool set_has(std::string_view& pattern, char letter) {
  bool negated = false;
  if (!pattern.empty() && pattern[0] == '^') {
    negated = true;
    pattern.remove_prefix(1);
  }
  bool found = false;
  for (;;) {
    if (pattern.size() >= 2 && pattern[0] == '\\') {
      pattern.remove_prefix(1);
      found = found || pattern[0] == letter;
    } else if (pattern.empty()) {
      break;
    } else if (pattern[0] == ']') {
      break;
    } else if (pattern.size() >= 3 && pattern[1] == '-') {
      auto first = static_cast<unsigned char>(pattern[0]);
      auto last = static_cast<unsigned char>(pattern[2]);
      if (first > last) {
        std::swap(first, last);
      }
      const auto own = static_cast<unsigned char>(letter);
      pattern.remove_prefix(2);
      found = found || (own >= first && own <= last);
    } else {
      found = found || pattern[0] == letter;
    }
    pattern.remove_prefix(1);
  }
  return negated ? !found : found;
}

// One step: the first part of the pattern takes the letter, and the pattern moves on behind it.
bool takes(std::string_view& pattern, char letter) {
  switch (pattern[0]) {
    case '?':
      break;
    case '[': {
      pattern.remove_prefix(1);
      const bool has = set_has(pattern, letter);
      if (!pattern.empty()) {
        pattern.remove_prefix(1);
      }
      return has;
    }
    case '\\':
      if (pattern.size() >= 2) {
        pattern.remove_prefix(1);
      }
      [[fallthrough]];
    default:
      if (pattern[0] != letter) {
        return false;
      }
  }
  pattern.remove_prefix(1);
  return true;
}

}  // namespace

// A star that has taken too little is the only place to go back to: the last one.
bool matches(std::string_view pattern, std::string_view text) {
  bool has_star = false;
  std::string_view behind_star;
  std::string_view star_text;
  while (!text.empty()) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      has_star = true;
      behind_star = pattern;
      star_text = text;
      continue;
    }
    std::string_view rest = pattern;
    if (!rest.empty() && takes(rest, text[0])) {
      pattern = rest;
      text.remove_prefix(1);
      continue;
    }
    if (!has_star) {
      return false;
    }
    star_text.remove_prefix(1);
    text = star_text;
    pattern = behind_star;
  }
  while (!pattern.empty() && pattern[0] == '*') {
    pattern.remove_prefix(1);
  }
  return pattern.empty();
}

}  // namespace remora::resp
