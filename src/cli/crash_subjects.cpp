#include "cli/crash_subjects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kv/store.h"
#include "sim/crash/pool_subject.h"
#include "sim/stores/store_subject.h"

namespace remora::cli {

std::vector<std::string> subject_names() {
  std::vector<std::string> names = {"pool"};
  for (const kv::Engine* engine : kv::engines()) {
    names.emplace_back(engine->name());
  }
  return names;
}

Result<std::unique_ptr<CrashSubject>> find_subject(const std::string& name) {
  if (name == "pool") {
    return std::unique_ptr<CrashSubject>(std::make_unique<PoolSubject>());
  }
  for (const kv::Engine* engine : kv::engines()) {
    if (engine->name() == name) {
      return std::unique_ptr<CrashSubject>(std::make_unique<sim::StoreSubject>(*engine));
    }
  }
  return Status(Code::invalid_argument, fmt::format("unknown engine '{}'; choose {}", name,
                                                    fmt::join(subject_names(), ", ")));
}

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
