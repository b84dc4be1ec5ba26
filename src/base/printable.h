// Text from outside that goes to people's terminals.
//
// Any thread; no state.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace remora {

constexpr bool is_printable(char letter) {
  return letter >= ' ' && letter <= '~';
}

// The text with a question mark for each letter that could steer a terminal, and for all others
// beyond ASCII. Those of `others` stay.
inline std::string printable(std::string_view text, std::string_view others = {}) {
  std::string out(text);
  std::ranges::replace_if(
      out,
      [&](char letter) {
        return !is_printable(letter) && others.find(letter) == std::string_view::npos;
      },
      '?');
  return out;
}

}  // namespace remora
