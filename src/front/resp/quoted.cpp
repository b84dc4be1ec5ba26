#include "front/resp/quoted.h"

namespace remora::resp {
namespace {

// The letter that stands for this one behind a backslash, or 0.
char escape_of(char letter) {
  switch (letter) {
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '"':
    case '\\':
      return letter;
    default:
      return 0;
  }
}

}  // namespace

void append_quoted(std::string& to, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  to += '"';
  for (const char letter : text) {
    if (const char escape = escape_of(letter); escape != 0) {
      to += '\\';
      to += escape;
    } else if (letter >= ' ' && letter <= '~') {
      to += letter;
    } else {
      const auto byte = static_cast<unsigned char>(letter);
      to += "\\x";
      to += digits[byte / 16];
      to += digits[byte % 16];
    }
  }
  to += '"';
}

}  // namespace remora::resp
