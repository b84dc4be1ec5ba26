// Pieces of what users type: lists, weights, ranges of sizes. Any thread; no state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace remora::workload {

// What stands between the separators; one empty piece if the text is empty.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string lower_case(std::string_view text);

// A plain decimal number such as "0.5" or "20", in [0, 1e9]. Else invalid_argument.
Result<double> parse_decimal(std::string_view text);

struct SizeRange {
  std::uint64_t low_bytes = 0;
  std::uint64_t high_bytes = 0;

  bool operator==(const SizeRange&) const = default;
};

// "100", "64-4096", "1K-4K". invalid_argument if it is neither, if the ends are in the wrong order,
// or if either lies outside of `allowed`.
Result<SizeRange> parse_size_range(std::string_view text, const SizeRange& allowed);
std::string to_string(const SizeRange& range);

}  // namespace remora::workload
