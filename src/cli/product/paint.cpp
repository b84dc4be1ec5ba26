#include "cli/product/paint.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace remora::cli {
namespace {

constexpr std::size_t narrowest = 40;
constexpr std::size_t widest = 400;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string_view code_of(Colour colour) {
  switch (colour) {
    case Colour::bold:
      return "1";
    case Colour::dim:
      return "2";
    case Colour::red:
      return "1;31";
    case Colour::yellow:
      return "33";
    case Colour::green:
      return "32";
    case Colour::blue:
      return "36";
    case Colour::plain:
      break;
  }
  return "0";
}

bool is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (const std::string_view value = variable(name); !value.empty()) {
      return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
    }
  }
  return false;
}

bool begins_letter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

}  // namespace

std::string Paint::operator()(Colour colour, std::string_view text) const {
  if (!on_ || colour == Colour::plain || text.empty()) {
    return std::string(text);
  }
  return fmt::format("\033[{}m{}\033[0m", code_of(colour), text);
}

Result<Paint> paint_of(const std::string& word) {
  if (word == "always" || word == "never") {
    return Paint(word == "always");
  }
  if (word != "auto") {
    return Status(Code::invalid_argument,
                  fmt::format("--color is auto, always or never, not '{}'", word));
  }
  return Paint(isatty(STDOUT_FILENO) != 0 && variable("NO_COLOR").empty() &&
               variable("TERM") != "dumb");
}

Screen screen_of_output() {
  Screen screen{.is_terminal = isatty(STDOUT_FILENO) != 0, .has_blocks = is_utf8()};
  winsize size = {};
  if (screen.is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    screen.width = size.ws_col;
    screen.height = size.ws_row;
  } else if (const std::string_view text = variable("COLUMNS"); !text.empty()) {
    (void)std::from_chars(text.data(), text.data() + text.size(), screen.width);
  }
  screen.width = std::clamp(screen.width, narrowest, widest);
  return screen;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  bool in_code = false;
  for (const char byte : text) {
    in_code |= byte == '\033';
    columns += !in_code && begins_letter(byte) ? 1u : 0u;
    in_code &= byte != 'm';
  }
  return columns;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) {
    return std::string(text);
  }
  const std::size_t dots = std::min<std::size_t>(columns, 3);
  std::size_t end = 0;
  for (std::size_t letters = 0; end < text.size(); ++end) {
    if (begins_letter(text[end]) && letters++ == columns - dots) {
      break;
    }
  }
  return std::string(text.substr(0, end)) + std::string(dots, '.');
}

}  // namespace remora::cli
