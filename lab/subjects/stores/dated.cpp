#include "lab/subjects/stores/dated.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace remora::lab {

bool explains(std::span<const DatedStep> steps, const DatedStep& seen, const DatedLook& look) {
  return std::ranges::any_of(steps, [&](const DatedStep& step) {
    return seen.version == 0 ? step.may_be_gone(look.until_ms, look.latest_ms)
                             : step.is_there(look.from_ms) && step.version == seen.version &&
                                   step.expires == seen.expires;
  });
}

bool explains_presence(std::span<const DatedStep> steps, bool there, const DatedLook& look) {
  return std::ranges::any_of(steps, [&](const DatedStep& step) {
    return there ? step.is_there(look.from_ms) : step.may_be_gone(look.until_ms, look.latest_ms);
  });
}

DatedSteps after_cut(const DatedSteps& steps, const DatedStep& seen, std::uint64_t wall_ms) {
  if (seen.version != 0) {
    return {{seen.version, seen.expires, 0}};
  }
  // What is gone for its time alone may be there again by the clock of the next life.
  DatedSteps left = {DatedStep{}};
  std::ranges::copy_if(steps, std::back_inserter(left),
                       [&](const DatedStep& step) { return !step.is_there(wall_ms); });
  return left;
}

std::string describe(std::span<const DatedStep> steps) {
  std::string text;
  for (const DatedStep& step : steps) {
    text += fmt::format(" {} until {},", step.version, step.expires);
  }
  return text;
}

std::string dated_value(std::uint64_t version, std::size_t size_bytes) {
  std::string value = std::to_string(version) + ' ';
  value.resize(std::max(size_bytes, value.size()), static_cast<char>('a' + version % 26));
  return value;
}

std::uint64_t dated_version(std::string_view value) {
  std::uint64_t version = 0;
  (void)std::from_chars(value.data(), value.data() + value.size(), version);
  return value == dated_value(version, value.size()) ? version : UINT64_MAX;
}

DatedStep dated_step(const kv::LocalStore::Found& found) {
  return {dated_version(as_text(found.value)), found.expires, 0};
}

}  // namespace remora::lab
