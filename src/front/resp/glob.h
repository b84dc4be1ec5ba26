// Patterns of keys, as KEYS and SCAN take them: * ? [abc] [^a] [a-z] and a backslash before a
// letter that means itself.
#pragma once

#include <string_view>

namespace remora::resp {

// Takes time in proportion to the product of both lengths, at most.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace remora::resp
