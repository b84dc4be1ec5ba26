#include "lab/workload/text.h"

#include <fmt/format.h>

#include <charconv>

#include "base/size_text.h"

namespace remora::workload {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  std::size_t from = 0;
  for (std::size_t at = text.find(separator); at != text.npos; at = text.find(separator, from)) {
    pieces.push_back(text.substr(from, at - from));
    from = at + 1;
  }
  pieces.push_back(text.substr(from));
  return pieces;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

Result<double> parse_decimal(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  // Written so that "nan" is refused too.
  if (error != std::errc() || stopped != end || !(number >= 0 && number <= 1e9)) {
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\" is not a number from 0 to 1e9, such as 0.5 or 20", text));
  }
  return number;
}

Result<SizeRange> parse_size_range(std::string_view text, const SizeRange& allowed) {
  const std::size_t dash = text.find('-');
  REMORA_TRY_RESULT(low, parse_size(text.substr(0, dash)));
  SizeRange range = {*low, *low};
  if (dash != text.npos) {
    REMORA_TRY_RESULT(high, parse_size(text.substr(dash + 1)));
    range.high_bytes = *high;
  }
  if (range.low_bytes > range.high_bytes) {
    return Status(Code::invalid_argument, fmt::format("\"{}\": the smaller size goes first", text));
  }
  if (range.low_bytes < allowed.low_bytes || range.high_bytes > allowed.high_bytes) {
    return Status(Code::invalid_argument,
                  fmt::format("\"{}\": sizes are from {} to {} here", text,
                              format_size(allowed.low_bytes), format_size(allowed.high_bytes)));
  }
  return range;
}

std::string to_string(const SizeRange& range) {
  return range.low_bytes == range.high_bytes
             ? fmt::format("{}", range.low_bytes)
             : fmt::format("{}-{}", range.low_bytes, range.high_bytes);
}

}  // namespace remora::workload
