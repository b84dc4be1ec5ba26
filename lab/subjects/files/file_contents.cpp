#include "lab/subjects/files/file_contents.h"

#include <fmt/format.h>

#include <algorithm>

namespace remora::lab {

void FileContents::synced(const FileVersion& version) {
  const auto at = std::ranges::find(versions_, version);
  if (at != versions_.end()) {
    versions_.erase(versions_.begin(), at);
  }
}

std::optional<std::string> FileContents::fault_of(const std::string& found) const {
  const auto [least, most] = std::ranges::minmax(
      versions_, {}, [](const FileVersion& version) { return version->size(); });
  // A file that grows by several blocks does so block by block.
  const bool on_its_way =
      found.size() % 4096 == 0 && found.size() > least->size() && found.size() < most->size();
  const bool known_size = std::ranges::any_of(
      versions_, [&found](const FileVersion& version) { return version->size() == found.size(); });
  if (!known_size && !on_its_way) {
    return fmt::format("has {} bytes; it had {} and never that since it was synced", found.size(),
                       versions_.back()->size());
  }
  for (std::size_t at = 0; at < found.size(); at += 8) {
    const std::size_t size = std::min<std::size_t>(8, found.size() - at);
    const std::string_view word = std::string_view(found).substr(at, size);
    const bool known = std::ranges::any_of(versions_, [&](const FileVersion& version) {
      return version->size() >= at + size && std::string_view(*version).substr(at, size) == word;
    });
    if (!known) {
      std::string text;
      for (const char byte : word) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      }
      return fmt::format("has {} at {} of {} bytes, which it never had there", text, at,
                         found.size());
    }
  }
  return std::nullopt;
}

}  // namespace remora::lab
