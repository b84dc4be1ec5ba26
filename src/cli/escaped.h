// Keys and names, which are any bytes, for terminals: nothing of them is lost, and nothing steers.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

#include "base/printable.h"

namespace remora::cli {

// Printable letters as they are, a backslash twice, every other byte as \\x07.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\\\";
    } else if (is_printable(letter)) {
      out += letter;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    }
  }
  return out;
}

}  // namespace remora::cli
