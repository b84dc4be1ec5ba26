#include "front/resp/number.h"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace remora::resp {

bool parse_integer(std::string_view text, std::int64_t& value) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') {
    value = text[0] - '0';
    return true;
  }
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits[0] < '1' || digits[0] > '9') {
    return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

char* write_integer(char* to, std::int64_t value) {
  if (value >= 0 && value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + 20, value).ptr;
}

bool parse_float(std::string_view text, long double& value) {
  constexpr std::size_t longest = 5 * 1024;
  if (text.empty() || text.size() >= longest) {
    return false;
  }
  const std::string copy(text);
  char* end = nullptr;
  errno = 0;
  value = std::strtold(copy.c_str(), &end);
  const bool out_of_range =
      errno == ERANGE && (std::isinf(value) || std::fpclassify(value) == FP_ZERO);
  return std::isspace(static_cast<unsigned char>(copy[0])) == 0 &&
         end == copy.c_str() + copy.size() && !out_of_range && !std::isnan(value);
}

std::string float_text(long double value) {
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  char text[5 * 1024];
  const int length = std::snprintf(text, sizeof text, "%.17Lf", value);
  std::string_view digits(text, static_cast<std::size_t>(length));
  if (digits.find('.') != std::string_view::npos) {
    digits = digits.substr(0, digits.find_last_not_of('0') + 1);
    if (digits.ends_with('.')) {
      digits.remove_suffix(1);
    }
  }
  return digits == "-0" ? "0" : std::string(digits);
}

}  // namespace remora::resp
