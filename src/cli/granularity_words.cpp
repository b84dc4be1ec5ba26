#include "cli/granularity_words.h"

namespace remora::cli {

Result<std::optional<Granularity>> parse_granularity(const std::string& text) {
  if (text == "any") {
    return std::optional<Granularity>();
  }
  if (text == "cache-line") {
    return std::optional(Granularity::cache_line);
  }
  if (text == "page") {
    return std::optional(Granularity::page);
  }
  return Status(Code::invalid_argument,
                "unknown granularity '" + text + "'; choose any, cache-line or page");
}

}  // namespace remora::cli
