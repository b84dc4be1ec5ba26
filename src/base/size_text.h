// Sizes as people write and read them. Units are powers of 1024: K, M, G, T, P, E.
//
// Any thread; no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace remora {

// Reads a whole number with an optional unit: "4096", "4096B", "256K", "64MiB", "2 TiB"; upper or
// lower case, at most one space before the unit. Fails with invalid_argument, and a message that
// shows the text and what would be right, on anything else: nothing, a sign, a fraction, an unknown
// unit, a size of 2^64 bytes or more. "64MB" is refused, since some mean 1000 by it and some 1024.
Result<std::uint64_t> parse_size(std::string_view text);

// "100 B", "256 KiB", "1.5 GiB": in the largest unit that leaves at least 1, with one digit after
// the point unless it is a whole number of that unit.
std::string format_size(std::uint64_t size_bytes);

}  // namespace remora
