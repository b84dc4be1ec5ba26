// Paint: colours for a terminal; plain text elsewhere.
//
// Any thread; no state but the choice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remora::cli {

enum class Colour : std::uint8_t { plain, bold, dim, red, yellow, green, blue };

class Paint {
 public:
  explicit Paint(bool on = false) : on_(on) {}

  bool on() const { return on_; }
  std::string operator()(Colour colour, std::string_view text) const;

 private:
  bool on_;
};

// By the words of --color: always, never, or auto, which is on a terminal that has colours, unless
// NO_COLOR is set. Fails with invalid_argument on another word.
Result<Paint> paint_of(const std::string& word);

// What standard output is: how wide and high (0: without an end), and whether it can show all of
// Unicode's blocks. Elsewhere than on a terminal the width is that of COLUMNS, or 80.
struct Screen {
  std::size_t width = 80;
  std::size_t height = 0;
  bool is_terminal = false;
  bool has_blocks = false;
};
Screen screen_of_output();

// How many columns UTF-8 takes here, of letters that take one each; colours take none.
std::size_t columns_of(std::string_view text);
// Plain text, no wider than that; what is left out is shown by a dot or three.
std::string cut(std::string_view text, std::size_t columns);

}  // namespace remora::cli
