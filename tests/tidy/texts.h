// What the product says to people: messages in its code, paragraphs of its documents, comments of
// its public headers. The rule on words and scripts/messages read the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/source.h"

namespace remora::tidy {

struct Text {
  std::string path;
  std::size_t line;  // of its first letter
  std::string text;  // lines are kept apart, so that a place in it has a line of its own
};

// Whether messages_of() looks at this file: code of the command, the daemon, the library and the
// laboratory, without tests and fuzz targets; and the file of settings.
bool has_messages(std::string_view path);

// Errors, help and all else that a string literal of two words or more says. Literals that the
// compiler or a `+` joins are one message; "{}" stands for what a `+` puts in between. Of the file
// of settings: its remarks.
std::vector<Text> messages_of(const Source& source);

// The documents, and the headers of the public API.
bool has_prose(std::string_view path);

// The paragraphs, list items, headings and table cells of a document, without its fenced blocks and
// without `code`; the comments of a header.
std::vector<Text> prose_of(const Source& source);

}  // namespace remora::tidy
