// Checks of option values whose messages say what would be right.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace remora::cli {

// A whole number, not below `least` and not above `most`.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most = UINT64_MAX);

}  // namespace remora::cli
