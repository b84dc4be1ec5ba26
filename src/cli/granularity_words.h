// The words for settings that `remora crash` and `remora matrix` share.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "pmem/region.h"

namespace remora::cli {

// "any" (open), "cache-line" or "page".
Result<std::optional<Granularity>> parse_granularity(const std::string& text);

}  // namespace remora::cli
