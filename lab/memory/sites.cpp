#include "lab/memory/sites.h"

#include <algorithm>

namespace remora {
namespace {

std::uint64_t place_of(std::uint32_t line, std::uint32_t column, SiteKind kind) {
  return (std::uint64_t{line} << 32) | (std::uint64_t{column} << 8) |
         static_cast<std::uint64_t>(kind);
}

std::uint64_t place_of(const SiteKey& key) {
  return place_of(key.line, key.column, key.kind);
}

}  // namespace

std::string_view to_string(SiteKind kind) {
  switch (kind) {
    case SiteKind::flush:
      return "flush";
    case SiteKind::drain:
      return "drain";
    case SiteKind::copy:
      return "copy";
    case SiteKind::post:
      return "post";
  }
  return "unknown";
}

SiteKey site_key(SiteKind kind, const Site& site) {
  return SiteKey{
      .file = site.file_name(), .line = site.line(), .column = site.column(), .kind = kind};
}

std::string to_string(const SiteKey& key) {
  std::string text = key.file;
  text += ':';
  text += std::to_string(key.line);
  text += ':';
  text += std::to_string(key.column);
  text += ' ';
  text += to_string(key.kind);
  return text;
}

bool SiteTable::visit(SiteKind kind, const Site& site) {
  const std::uint64_t place = place_of(site.line(), site.column(), kind);
  SiteEntry* entry = find(place, site.file_name());
  if (entry == nullptr) {
    entry = &add(place, site_key(kind, site));
  }
  if (entry->calls++ == 0) {
    entry->function = site.function_name();
  }
  return entry->muted;
}

void SiteTable::mute(const SiteKey& key) {
  SiteEntry* entry = find(place_of(key), key.file);
  (entry != nullptr ? *entry : add(place_of(key), key)).muted = true;
}

void SiteTable::unmute_all() {
  for (SiteEntry& entry : entries_) {
    entry.muted = false;
  }
}

std::uint64_t SiteTable::calls(const SiteKey& key) const {
  const auto same = [&](const SiteEntry& entry) { return entry.key == key; };
  const auto entry = std::find_if(entries_.begin(), entries_.end(), same);
  return entry == entries_.end() ? 0 : entry->calls;
}

std::vector<SiteEntry> SiteTable::list() const {
  std::vector<SiteEntry> sorted = entries_;
  std::sort(sorted.begin(), sorted.end(),
            [](const SiteEntry& a, const SiteEntry& b) { return a.key < b.key; });
  return sorted;
}

SiteEntry* SiteTable::find(std::uint64_t place, std::string_view file) {
  const auto found = by_place_.find(place);
  if (found == by_place_.end()) {
    return nullptr;
  }
  for (const std::size_t index : found->second) {
    if (entries_[index].key.file == file) {
      return &entries_[index];
    }
  }
  return nullptr;
}

SiteEntry& SiteTable::add(std::uint64_t place, SiteKey key) {
  by_place_[place].push_back(entries_.size());
  entries_.push_back(SiteEntry{.key = std::move(key), .function = {}, .calls = 0, .muted = false});
  return entries_.back();
}

}  // namespace remora
