// The rules of the house that a program can check, other than the layers. Each takes one file and
// returns what it complains of.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/source.h"

namespace remora::tidy {

// Where clocks, threads and random devices may be used, and why there.
struct Exemption {
  std::string_view path;  // what the path begins with, or, if it begins with '*', ends with
  std::string_view reason;
};
const std::vector<Exemption>& clock_exemptions();

// Complains of clocks, threads and random devices outside the exempt places.
std::vector<Finding> check_capabilities(const Source& source);

// The files that a source merged by the build includes: CMake's unity sources hold no other line.
std::vector<std::string> merged_files(std::string_view text);

// Complains of a .cpp that is not among the files the build compiles.
std::vector<Finding> check_built(const Source& source, const std::set<std::string>& compiled);

// Complains of tabs, trailing spaces, long files, headers without #pragma once, words that promise
// later work, and keywords redefined to get at private members.
std::vector<Finding> check_text(const Source& source);

// Complains where a function that was handed a `Site site` asks for persistence without passing it
// on: the crash world could then not mute that call by the caller's place.
std::vector<Finding> check_sites(const Source& source);

// Complains of `co_await` inside `?:`, or behind `&&` and `||`: g++ 12 destroys the value of the
// branch that was not taken, or the other one twice.
std::vector<Finding> check_awaits(const Source& source);

}  // namespace remora::tidy
