#include "base/size_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>

namespace remora {

namespace {

constexpr std::string_view letters = "bkmgtpe";  // the n-th stands for 1024^n bytes
constexpr std::array<std::string_view, letters.size()> names = {"B",   "KiB", "MiB", "GiB",
                                                                "TiB", "PiB", "EiB"};

constexpr std::uint64_t unit_bytes(std::size_t power) {
  return std::uint64_t{1} << (10 * power);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

Status refused(std::string_view text, std::string_view why) {
  return Status(Code::invalid_argument,
                fmt::format("\"{}\" is not a size: {}; write a whole number and a unit, such as "
                            "4096, 256K, 64M or 2G",
                            text, why));
}

// The power of 1024 that "", "K" or "KiB" stands for.
Result<std::size_t> parse_unit(std::string_view unit, std::string_view text) {
  if (unit.empty()) {
    return std::size_t{0};
  }
  const std::size_t power = letters.find(lower(unit[0]));
  if (power == std::string_view::npos) {
    return refused(text, "the unit is unknown");
  }
  const bool short_form = unit.size() == 1;
  const bool long_form =
      power > 0 && unit.size() == 3 && lower(unit[1]) == 'i' && lower(unit[2]) == 'b';
  if (short_form || long_form) {
    return power;
  }
  if (power > 0 && unit.size() == 2 && lower(unit[1]) == 'b') {
    return refused(text, fmt::format("for units of 1024 write {}, not {}", names[power], unit));
  }
  return refused(text, "the unit is unknown");
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::result_out_of_range) {
    return refused(text, "it is too large");
  }
  if (error != std::errc()) {
    return refused(text, text.empty() ? "it is empty" : "it does not start with a digit");
  }
  std::string_view unit(stopped, static_cast<std::size_t>(end - stopped));
  if (unit.size() > 1 && unit[0] == ' ') {
    unit.remove_prefix(1);
  }
  REMORA_TRY_RESULT(power, parse_unit(unit, text));
  if (number > std::numeric_limits<std::uint64_t>::max() / unit_bytes(*power)) {
    return refused(text, "it is too large");
  }
  return number * unit_bytes(*power);
}

std::string format_size(std::uint64_t size_bytes) {
  std::size_t power = 0;
  while (power + 1 < names.size() && size_bytes >= unit_bytes(power + 1)) {
    ++power;
  }
  if (size_bytes % unit_bytes(power) == 0) {
    return fmt::format("{} {}", size_bytes / unit_bytes(power), names[power]);
  }
  // Rounding may fill the unit: 1048575 bytes are 1.0 MiB, not 1024.0 KiB.
  double in_unit = static_cast<double>(size_bytes) / static_cast<double>(unit_bytes(power));
  if (in_unit >= 1023.95 && power + 1 < names.size()) {
    in_unit /= 1024;
    ++power;
  }
  return fmt::format("{:.1f} {}", in_unit, names[power]);
}

}  // namespace remora
