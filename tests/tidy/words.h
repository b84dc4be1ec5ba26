// Plain words: what the product says to people is written as subject, verb, object.
#pragma once

#include <vector>

#include "tests/tidy/source.h"
#include "tests/tidy/texts.h"

namespace remora::tidy {

// Complains of turns that a reader has to parse twice ("for who", "is none", a sentence that begins
// with "Who", and the like) in one text.
std::vector<Finding> check_words(const Text& text);

// The same of all that a file says: its messages, and its prose.
std::vector<Finding> check_words(const Source& source);

}  // namespace remora::tidy
