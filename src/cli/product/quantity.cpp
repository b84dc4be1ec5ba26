#include "cli/product/quantity.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/size_text.h"

namespace remora::cli {
namespace {

// Three digits that count.
std::string three_digits(double value) {
  return value >= 99.95   ? fmt::format("{:.0f}", value)
         : value >= 9.995 ? fmt::format("{:.1f}", value)
                          : fmt::format("{:.2f}", value);
}

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string in_nanoseconds(double value) {
  constexpr std::pair<double, std::string_view> units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  for (const auto& [size, name] : units) {
    if (value >= size) {
      return fmt::format("{} {}", three_digits(value / size), name);
    }
  }
  return value == 0 ? "0" : fmt::format("{:.0f} ns", value);
}

std::string in_seconds(std::uint64_t value) {
  constexpr std::uint64_t minute = 60;
  constexpr std::uint64_t hour = 60 * minute;
  constexpr std::uint64_t day = 24 * hour;
  if (value >= day) {
    return fmt::format("{} d {} h", value / day, value % day / hour);
  }
  if (value >= hour) {
    return fmt::format("{} h {} min", value / hour, value % hour / minute);
  }
  return value >= minute ? fmt::format("{} min {} s", value / minute, value % minute)
                         : fmt::format("{} s", value);
}

std::string in_moment(std::uint64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm local = {};
  return ms == 0 || localtime_r(&seconds, &local) == nullptr
             ? "never"
             : fmt::format("{:%Y-%m-%d %H:%M:%S}", local);
}

}  // namespace

std::string short_count(double value) {
  constexpr std::pair<double, std::string_view> units[] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [size, name] : units) {
    if (value >= size * 0.9995) {
      return fmt::format("{} {}", three_digits(value / size), name);
    }
  }
  return value == std::floor(value) || value >= 99.95 ? fmt::format("{:.0f}", value)
                                                      : fmt::format("{:.1f}", value);
}

std::string in_units(Unit unit, std::uint64_t value) {
  constexpr std::uint64_t shown_exactly = 100'000'000;
  switch (unit) {
    case Unit::bytes:
      return format_size(value);
    case Unit::nanoseconds:
      return in_nanoseconds(static_cast<double>(value));
    case Unit::processor_ms:
      return in_nanoseconds(static_cast<double>(value) * 1e6);
    case Unit::seconds:
      return in_seconds(value);
    case Unit::moment_ms:
      return in_moment(value);
    case Unit::count:
      break;
  }
  return value < shown_exactly ? with_commas(value) : short_count(static_cast<double>(value));
}

std::string rate_in_units(Unit unit, double per_second) {
  if (per_second > 0 && per_second < 0.05) {
    return "< 0.1";
  }
  switch (unit) {
    case Unit::bytes:
      return format_size(static_cast<std::uint64_t>(per_second));
    case Unit::processor_ms:
      return fmt::format("{:.0f} %", per_second / 10);
    default:
      return short_count(per_second);
  }
}

std::string curve(std::span<const double> values, std::size_t columns, bool has_blocks) {
  constexpr std::array<std::string_view, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 9> letters = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
  const auto shown = values.last(std::min(columns, values.size()));
  const double top = shown.empty() ? 0 : *std::ranges::max_element(shown);
  std::string text(columns - shown.size(), ' ');
  for (const double value : shown) {
    // What is more than nothing is seen.
    const auto height =
        value <= 0 || top <= 0
            ? std::size_t{0}
            : std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(value / top * 8)), 1, 8);
    text += has_blocks ? blocks[height] : letters[height];
  }
  return text;
}

std::string bar(double filled, std::size_t columns, bool has_blocks) {
  constexpr std::array<std::string_view, 8> eighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double length = std::clamp(filled, 0.0, 1.0) * static_cast<double>(columns);
  std::size_t whole = static_cast<std::size_t>(length);
  std::string text;
  if (!has_blocks) {
    for (std::size_t i = 0; i < columns; ++i) {
      text += i < whole ? '#' : '.';
    }
    return text;
  }
  for (std::size_t i = 0; i < whole; ++i) {
    text += "█";
  }
  if (whole < columns) {
    // What is more than nothing is seen.
    const auto part = static_cast<std::size_t>((length - static_cast<double>(whole)) * 8);
    const std::size_t eighth = filled > 0 && whole == 0 ? std::max<std::size_t>(part, 1) : part;
    text += eighths[eighth];
    whole += eighth == 0 ? 0 : 1;
  }
  for (; whole < columns; ++whole) {
    text += "░";
  }
  return text;
}

}  // namespace remora::cli
