// Numbers as Redis reads and writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace remora::resp {

// A decimal number with nothing around it: no spaces, no plus, no zeros in front.
bool parse_integer(std::string_view text, std::int64_t& value);

// Writes the number at `to`, which has room for 20 letters, and returns where it ends.
char* write_integer(char* to, std::int64_t value);

// What INCRBYFLOAT takes, and how it writes its sum.
bool parse_float(std::string_view text, long double& value);
std::string float_text(long double value);

}  // namespace remora::resp
