// What `remora crash` and `remora matrix` share: the subjects by name, and the words for settings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/crash/subject.h"

namespace remora::cli {

// "pool" and every store engine.
std::vector<std::string> subject_names();
// By name, or a failure that lists the names.
Result<std::unique_ptr<CrashSubject>> find_subject(const std::string& name);

// "any" (open), "cache-line" or "page".
Result<std::optional<Granularity>> parse_granularity(const std::string& text);

}  // namespace remora::cli
