// Text between people and stores: a line as words, and bytes as something that a terminal can show.
//
// Any thread; no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remora::cli {

// The words of a line. Blanks part them; "double" and 'single' quotes hold them together; in double
// quotes \" \\ \n \r \t and \xNN mean what they mean in C. Fails with invalid_argument when a quote
// is not closed, or a backslash is followed by something else.
Result<std::vector<std::string>> split_words(std::string_view line);
// The same, with whether a part of a word was in quotes.
struct Word {
  std::string text;
  bool is_quoted = false;
};
Result<std::vector<Word>> split_line(std::string_view line);

// As it is when every letter can be shown, else in double quotes as split_words reads them.
std::string shown(std::string_view bytes);

// Whether `shown` leaves it as it is: UTF-8 with no control characters.
bool is_showable(std::string_view bytes);

}  // namespace remora::cli
