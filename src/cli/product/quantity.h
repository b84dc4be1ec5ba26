// Numbers as people read them, and small pictures of them in text.
//
// Any thread; no state.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace remora::cli {

enum class Unit : std::uint8_t {
  count,
  bytes,
  nanoseconds,
  seconds,
  processor_ms,  // of one processor: a rate of 1000 a second is all of it
  moment_ms,     // milliseconds since 1970
};

// "12,345", "1.5 MiB", "2.1 ms", "3 h 20 min", "never".
std::string in_units(Unit unit, std::uint64_t value);
// Of something that grows by that in a second: "48.1 k", "12.3 MiB", "37 %".
std::string rate_in_units(Unit unit, double per_second);
// As short as a rate of counts: "1.2 M".
std::string short_count(double value);

// One column for each of the newest values, as high as it is next to the largest of them; blanks
// before the first. `has_blocks`: drawn with Unicode's blocks, else with letters.
std::string curve(std::span<const double> values, std::size_t columns, bool has_blocks);
// A bar of which so much is filled, 0 to 1.
std::string bar(double filled, std::size_t columns, bool has_blocks);

}  // namespace remora::cli
