// Text as Redis prints it for people: in double quotes, on one line, in letters of ASCII. It is
// what split_words (parser.h) reads back.
#pragma once

#include <string>
#include <string_view>

namespace remora::resp {

void append_quoted(std::string& to, std::string_view text);

}  // namespace remora::resp
