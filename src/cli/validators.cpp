#include "cli/validators.h"

#include <fmt/core.h>

#include <charconv>
#include <string>

namespace remora::cli {

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        const bool good = error == std::errc() && stopped == end && value >= least && value <= most;
        return good ? std::string()
                    : fmt::format("'{}' is not valid; choose a whole number from {}{}", text, least,
                                  most == UINT64_MAX ? "" : fmt::format(" to {}", most));
      },
      "");
}

}  // namespace remora::cli
