#include "base/descriptor.h"

#include <algorithm>

namespace remora {
namespace {

// Whether the path leads to the file, or into the folder, that the source names.
bool leads_to(std::string_view path, std::string_view source) {
  const bool is_folder = source.ends_with('/');
  const std::size_t at = path.rfind(source);
  if (at == std::string_view::npos || (at != 0 && path[at - 1] != '/')) {
    return false;
  }
  return is_folder || at + source.size() == path.size();
}

}  // namespace

std::string_view to_string(SystemKind kind) {
  switch (kind) {
    case SystemKind::part:
      return "part";
    case SystemKind::store:
      return "store";
  }
  return "unknown";
}

bool is_scaffolding(std::string_view file) {
  return file.ends_with("_testing.h");
}

bool answers_for(const Descriptor& system, std::string_view file) {
  return !is_scaffolding(file) &&
         std::ranges::any_of(system.sources,
                             [file](std::string_view source) { return leads_to(file, source); });
}

}  // namespace remora
