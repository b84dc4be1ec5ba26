// Checks of option values whose messages say what would be right.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace remora::cli {

// A whole number, not below `least`, that fits 64 bits.
CLI::Validator whole_number(std::uint64_t least);

}  // namespace remora::cli
